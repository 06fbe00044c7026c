/** Exclusive container resources: the managers that allocate them, and the resulting container settings. */
import { join } from 'node:path';
import { errorMessage } from '@podwright/base';
import { type Container, everyContainer, formatCpus, isExtendedResource, type Pod } from '@podwright/kube-api';
import {
  type AllocationRequest,
  type ContainerDeviceOptions,
  type DeviceHealthListener,
  DeviceManager,
  exclusiveCpus,
  type HintProvider,
  KnownCpus,
  type ListedClaim,
  type Machine,
  memoryRequest,
  type PlacementMetrics,
  placementMetrics,
  ResourceAdmission,
  readMachine,
} from '@podwright/placement';
import type { ContainerGrants, ContainerMount } from '../container/prepared-container.ts';
import { isOwnAnnotation } from '../kuberuntime/labels.ts';
import { isStandaloneNode, type KubeletOptions } from '../options.ts';
import type { GrantAnswer, PodGrants } from '../pod/pod-grants.ts';
import { openPlacement, type Placement } from './placement.ts';

export type NodeGrants = PodGrants & {
  devices: DeviceManager;
  placement: Placement;
  /** The CPUs that each container was started with. */
  knownCpus: KnownCpus;
  /** The devices that all pods together may request, by resource name. */
  admissible(): Record<string, bigint>;
  /** Device counts for the node status. */
  amounts(): { capacity: Record<string, bigint>; allocatable: Record<string, bigint> };
  grantsOf(pod: Pod, container: Container): Promise<ContainerGrants>;
  /** Returns the ResourceClaims whose devices the container uses, for the pod resources API. */
  claimsOf(pod: Pod, container: Container): ListedClaim[];
  hasOwnCpus(pod: Pod): boolean;
  /** Releases the exclusive resources of pods that no longer exist. */
  keepOnly(isKnown: (podUid: string) => boolean): Promise<void>;
  /** Serves device plugin registration. `onHealth` is called with the pods whose devices change health. */
  serve(onHealth: DeviceHealthListener): Promise<void>;
  close(): Promise<void>;
};

type NodeGrantsInput = {
  options: KubeletOptions;
  /** Whether any of the pod's containers is running. */
  isRunning: (podUid: string) => boolean;
};

/**
 * Opens the managers for exclusive resources. Rejects with `failed_precondition` if the host does not support the configured CPU or memory
 * policy.
 */
export async function openNodeGrants({ options, isRunning }: NodeGrantsInput): Promise<NodeGrants> {
  const { devicePluginDir, logger, rootDir } = options;
  const isStandalone = isStandaloneNode(options);
  let read: Promise<Machine> | undefined;
  const placement = await openPlacement(options, () => (read ??= readMachine()));
  const directory = devicePluginDir || join(rootDir, 'device-plugins');
  const nodes = placement.topology?.numa.nodes ?? [];
  const devices = await DeviceManager.open({ directory, nodes, isRunning, logger, metrics: options.metrics });
  const managers = [devices, placement.cpus, placement.memory].filter((one) => one !== undefined);
  const metrics = options.metrics && placementMetrics(options.metrics);
  const admission = new ResourceAdmission(providers(devices, placement, metrics), placement.topology, metrics);
  const admitted = new Set<string>();
  const knownCpus = new KnownCpus();
  return {
    ...{ devices, placement, knownCpus },
    // on a standalone node, pods that need devices which no device plugin currently offers wait instead of being rejected
    admissible: () => (isStandalone ? offered(devices) : devices.admissible()),
    amounts: () => inBigInts(devices.amounts()),
    admit: async (pod, signal) => {
      const { uid } = pod.metadata;
      if (admitted.has(uid)) return undefined;
      const answer =
        (isStandalone && !isRunning(uid) ? missingDevices(pod, devices) : undefined) ??
        refused(await admission.admit(pod, signal));
      if (answer === undefined) admitted.add(uid);
      return answer;
    },
    prepare: async () => undefined,
    unprepare: async () => undefined,
    claimsOf: () => [],
    healthOf: ({ metadata: { uid } }, container) => devices.healthOf(uid, container),
    release: async (podUid) => {
      admitted.delete(podUid);
      await admission.release(podUid);
    },
    grantsOf: async (pod, container) => {
      if (devices.isMissing(pod, container))
        await admission.whileShared(pod, () => devices.allocateMissing(pod, container));
      const { memory } = placement;
      if (memory?.hasLeftOvers(pod, container)) await admission.exclusively(() => memory.freeLeftOvers(pod, container));
      const cpus = cpusFor(pod, container, placement);
      knownCpus.note(pod.metadata.uid, container.name, cpus.cpus);
      const options = await devices.optionsFor(pod, container);
      const ignored = Object.keys(options.annotations).filter(isOwnAnnotation);
      if (ignored.length > 0)
        logger.warn({ pod: pod.metadata.name, ignored }, 'a device plugin sets annotations of the kubelet');
      return { ...grantsFrom(options), ...cpus };
    },
    hasOwnCpus: (pod) => placement.cpus?.hasOwn(pod) === true,
    keepOnly: (isKnown) =>
      admission.exclusively(async () => {
        for (const manager of managers) await manager.keepOnly(isKnown);
      }),
    serve: (onHealth) =>
      devices.serve(onHealth).catch((error: unknown) => {
        logger.error({ directory, error: errorMessage(error) }, 'device plugins cannot register');
      }),
    close: () => devices.close(),
  };
}

/** Returns the managers that allocate exclusive resources, in upstream's order. */
function providers(
  devices: DeviceManager,
  { cpus, memory }: Placement,
  metrics: PlacementMetrics | undefined,
): HintProvider[] {
  metrics?.processors(() => cpus?.counts() ?? { free: 0, given: new Map() });
  const pinning = metrics?.pinning ?? ((_, provider) => provider);
  const hasOwnCpus = ({ pod, container }: AllocationRequest) => exclusiveCpus(pod, container) > 0;
  const hasOwnMemory = ({ pod, container }: AllocationRequest) => Object.keys(memoryRequest(pod, container)).length > 0;
  return [
    devices,
    ...(cpus === undefined ? [] : [pinning('cpu', cpus, hasOwnCpus)]),
    ...(memory === undefined ? [] : [pinning('memory', memory, hasOwnMemory)]),
  ];
}

/** Returns the CPUs and NUMA nodes that a container may use: its exclusive ones if it has any, otherwise the shared pool. */
function cpusFor(
  { metadata: { uid } }: Pod,
  { name }: Container,
  { cpus, memory }: Placement,
): Pick<ContainerGrants, 'cpus' | 'memoryNodes' | 'hasOwnCpus'> {
  return {
    cpus: formatCpus(cpus?.cpusOf(uid, name) ?? []),
    memoryNodes: formatCpus(memory?.nodesOf(uid, name) ?? []),
    hasOwnCpus: (cpus?.ownOf(uid, name) ?? []).length > 0,
  };
}

function offered(devices: DeviceManager): Record<string, bigint> {
  const entries = Object.entries(devices.admissible());
  return Object.fromEntries(entries.filter(([name]) => devices.isOffered(name)));
}

/**
 * Makes a pod wait for devices that no device plugin offers. A standalone node has no scheduler that would hold such a pod back, and after
 * a reboot, pods start before device plugins have registered.
 */
function missingDevices(pod: Pod, devices: DeviceManager): GrantAnswer | undefined {
  const asked = everyContainer(pod.spec).flatMap(({ resources }) => Object.keys(resources?.limits ?? {}));
  const missing = asked.find((name) => isExtendedResource(name) && !devices.isOffered(name));
  return missing === undefined ? undefined : { kind: 'waits', message: `no device plugin offers ${missing} now` };
}

function refused(refusal: Awaited<ReturnType<ResourceAdmission['admit']>>): GrantAnswer | undefined {
  return refusal && { kind: 'refused', refusal };
}

function inBigInts(amounts: ReturnType<DeviceManager['amounts']>) {
  const each = (list: Record<string, number>) =>
    Object.fromEntries(Object.entries(list).map(([name, count]) => [name, BigInt(count)]));
  return { capacity: each(amounts.capacity), allocatable: each(amounts.allocatable) };
}

const PLUGIN_MOUNT = { recursiveReadOnly: false, propagation: 'None', relabel: false } as const;

type DeviceGrants = Omit<ContainerGrants, 'cpus' | 'memoryNodes' | 'hasOwnCpus'>;

function grantsFrom({ envs, mounts, devices, annotations, cdiDevices }: ContainerDeviceOptions): DeviceGrants {
  return {
    environment: Object.entries(envs).map(([name, value]) => ({ name, value })),
    mounts: mounts.map(
      ({ containerPath, hostPath, readOnly }): ContainerMount => ({
        ...PLUGIN_MOUNT,
        name: containerPath,
        containerPath,
        hostPath,
        readonly: readOnly,
      }),
    ),
    devices: devices.map(({ containerPath, hostPath, permissions }) => ({ containerPath, hostPath, permissions })),
    annotations,
    cdiDevices: cdiDevices.map(({ name }) => name),
  };
}
