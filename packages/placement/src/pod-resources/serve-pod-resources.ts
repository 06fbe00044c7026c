/** Serves the pod resources API (v1), from which agents on the node, such as monitoring, get the devices, CPUs and memory of containers. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Logger, POD_DIRECTORY, PodwrightError, type Registry } from '@podwright/base';
import { handleService, serveServices } from '@podwright/grpc';
import { type Container, isSidecar, type Pod } from '@podwright/kube-api';
import { startOnceThereIsSpace } from '../late-server.ts';
import { PodResourcesLister } from '../pod-resources-api.ts';
import { CallLimit } from './call-limit.ts';
import { type EndpointMetrics, endpointMetrics } from './endpoint-metrics.ts';

/** Rate limit of the pod resources API (upstream's DefaultQPS and DefaultBurstTokens). */
const POD_RESOURCES_CALLS = { perSecond: 100, burst: 10 };

/** Devices of one resource on the same set of NUMA nodes, or without NUMA affinity. */
export type ListedDevices = { resource: string; ids: string[]; nodes: number[] };
export type ListedMemory = { type: string; size: bigint; nodes: number[] };
/** A ResourceClaim of a pod and its devices. */
export type ListedClaim = {
  namespace: string;
  name: string;
  devices: { driver: string; pool: string; device: string; shareId?: string; cdiDevices: string[] }[];
};
/** A container's resources, or the node's allocatable resources. */
export type ListedResources = { devices: ListedDevices[]; cpus: number[]; memory: ListedMemory[] };

export type PodResourcesInput = {
  /** Directory of the socket, `kubelet.sock`. */
  directory: string;
  /** Returns the pods that are running or about to start. */
  activePods: () => Pod[];
  /** Returns a container's exclusive resources. */
  resourcesOf: (pod: Pod, container: Container) => ListedResources;
  /** Returns the ResourceClaims that provide a container's devices. */
  claimsOf: (pod: Pod, container: Container) => ListedClaim[];
  /** Returns the node's allocatable resources. */
  allocatable: () => ListedResources;
  logger: Logger;
  metrics?: Registry;
};

/** Serves the API. Rejects with `already_exists` if another kubelet is serving the socket. */
export async function servePodResources(input: PodResourcesInput): Promise<{ close(): Promise<void> }> {
  const { directory, activePods, allocatable, logger, metrics } = input;
  const counted: EndpointMetrics = metrics === undefined ? (_, answer) => answer() : endpointMetrics(metrics);
  const limit = new CallLimit(POD_RESOURCES_CALLS);
  const service = handleService(PodResourcesLister, {
    list: async () => {
      limit.take();
      return counted('list', () => ({ podResources: activePods().map((pod) => podMessage(pod, input)) }));
    },
    getAllocatableResources: async () => {
      limit.take();
      return counted('get_allocatable', () => resourcesMessage(allocatable()));
    },
    get: async ({ podName, podNamespace }) => {
      limit.take();
      const isMeant = ({ metadata }: Pod) => metadata.name === podName && metadata.namespace === podNamespace;
      return counted('get', () => {
        const pod = activePods().find(isMeant);
        if (pod !== undefined) return { podResources: podMessage(pod, input) };
        const what = `pod ${podName.slice(0, 253)} in namespace ${podNamespace.slice(0, 63)} not found`;
        throw new PodwrightError('not_found', what);
      });
    },
  });
  const serve = async () => {
    await mkdir(directory, { recursive: true, mode: POD_DIRECTORY });
    return await serveServices([service], { socket: join(directory, 'kubelet.sock'), logger });
  };
  return startOnceThereIsSpace({ serve, consequence: 'the pod resources API is not served', logger });
}

/** Returns a pod's resources, without those of init containers other than sidecars, because these have exited. */
function podMessage(pod: Pod, { resourcesOf, claimsOf }: PodResourcesInput) {
  const { name, namespace } = pod.metadata;
  const lasting = [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers];
  const containers = lasting.map((container) => ({
    name: container.name,
    ...resourcesMessage(resourcesOf(pod, container)),
    dynamicResources: claimsOf(pod, container).map(claimMessage),
  }));
  return { name, namespace, containers };
}

function resourcesMessage({ devices, cpus, memory }: ListedResources) {
  return {
    devices: devices.map(({ resource, ids, nodes }) => ({
      resourceName: resource,
      deviceIds: ids,
      ...topologyMessage(nodes),
    })),
    cpuIds: cpus.map(BigInt),
    memory: memory.map(({ type, size, nodes }) => ({ memoryType: type, size, ...topologyMessage(nodes) })),
  };
}

const claimMessage = ({ namespace, name, devices }: ListedClaim) => ({
  claimName: name,
  claimNamespace: namespace,
  claimResources: devices.map(({ driver, pool, device, shareId, cdiDevices }) => ({
    ...{ driverName: driver, poolName: pool, deviceName: device, shareId },
    cdiDevices: cdiDevices.map((one) => ({ name: one })),
  })),
});

const topologyMessage = (nodes: number[]) =>
  nodes.length === 0 ? {} : { topology: { nodes: nodes.map((node) => ({ ID: BigInt(node) })) } };
