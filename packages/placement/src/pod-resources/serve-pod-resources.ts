/** The pod resources API (v1): tells agents of the node, such as monitors, which container has which devices, processors and memory. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Logger, POD_DIRECTORY, PodwrightError, type Registry } from '@podwright/base';
import { type CriServer, handleService, serveServices } from '@podwright/cri';
import { PodResourcesLister } from '@podwright/cri/pod-resources';
import { type Container, isSidecar, type Pod } from '@podwright/kube-api';
import { CallLimit } from './call-limit.ts';
import { type EndpointMetrics, endpointMetrics } from './endpoint-metrics.ts';

/** Calls of the pod resources API: upstream's DefaultQPS and DefaultBurstTokens. */
const POD_RESOURCES_CALLS = { perSecond: 100, burst: 10 };

/** Devices of a resource, all of one place: NUMA nodes, none if they have none. */
export type ListedDevices = { resource: string; ids: string[]; nodes: number[] };
export type ListedMemory = { type: string; size: bigint; nodes: number[] };
/** A claim of a pod, with the devices of it, by their drivers. */
export type ListedClaim = {
  namespace: string;
  name: string;
  devices: { driver: string; pool: string; device: string; shareId?: string; cdiDevices: string[] }[];
};
/** What somebody has, or what there is. */
export type ListedResources = { devices: ListedDevices[]; cpus: number[]; memory: ListedMemory[] };

export type PodResourcesInput = {
  /** Of the socket, `kubelet.sock`. */
  directory: string;
  /** Pods that have something running or may get it. */
  activePods: () => Pod[];
  /** What a container has for itself. */
  resourcesOf: (pod: Pod, container: Container) => ListedResources;
  /** Whose devices a container has. */
  claimsOf: (pod: Pod, container: Container) => ListedClaim[];
  /** What there is to be given out. */
  allocatable: () => ListedResources;
  logger: Logger;
  metrics?: Registry;
};

/** Rejects with `already_exists` if another kubelet has the socket. */
export async function servePodResources(input: PodResourcesInput): Promise<CriServer> {
  const { directory, activePods, allocatable, logger, metrics } = input;
  const counted: EndpointMetrics = metrics === undefined ? (_, answer) => answer() : endpointMetrics(metrics);
  await mkdir(directory, { recursive: true, mode: POD_DIRECTORY });
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
  return serveServices([service], { socket: join(directory, 'kubelet.sock'), logger });
}

/** Init containers have done their work, but for sidecars. */
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
      ...placeMessage(nodes),
    })),
    cpuIds: cpus.map(BigInt),
    memory: memory.map(({ type, size, nodes }) => ({ memoryType: type, size, ...placeMessage(nodes) })),
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

const placeMessage = (nodes: number[]) =>
  nodes.length === 0 ? {} : { topology: { nodes: nodes.map((node) => ({ ID: BigInt(node) })) } };
