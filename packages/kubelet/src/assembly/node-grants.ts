/** What containers have for themselves: who gives it out, and what of it a container is started with. */
import { join } from 'node:path';
import { errorMessage } from '@podwright/base';
import { type Container, everyContainer, type Pod } from '../api/types.ts';
import { isExtendedResource } from '../api/validation/resources.ts';
import type { ContainerGrants, ContainerMount } from '../container/prepared-container.ts';
import { DeviceManager } from '../devices/device-manager.ts';
import type { ContainerDeviceOptions } from '../devices/device-types.ts';
import type { KubeletOptions } from '../options.ts';
import type { GrantAnswer, PodGrants } from '../pod/pod-grants.ts';
import { ResourceAdmission } from '../topology/resource-admission.ts';

export type NodeGrants = PodGrants & {
  devices: DeviceManager;
  /** What pods may have together of what plugins offer. */
  admissible(): Record<string, bigint>;
  /** What the node has of that, for its status. */
  amounts(): { capacity: Record<string, bigint>; allocatable: Record<string, bigint> };
  grantsOf(pod: Pod, container: Container): Promise<ContainerGrants | undefined>;
  keepOnly(isKnown: (podUid: string) => boolean): Promise<void>;
  close(): Promise<void>;
};

export async function openNodeGrants({
  options,
  isRunning,
}: {
  options: KubeletOptions;
  /** Whether something of the pod runs. */
  isRunning: (podUid: string) => boolean;
}): Promise<NodeGrants> {
  const { logger, rootDir } = options;
  const directory = options.devicePluginDir || join(rootDir, 'device-plugins');
  const devices = await DeviceManager.open({ directory, nodes: [0], isRunning, logger });
  await devices.serve().catch((error: unknown) => {
    logger.error({ directory, error: errorMessage(error) }, 'device plugins cannot register');
  });
  const admission = new ResourceAdmission([devices], undefined);
  const admitted = new Set<string>();
  return {
    devices,
    admissible: () => devices.admissible(),
    amounts: () => inBigInts(devices.amounts()),
    admit: async (pod, signal) => {
      const { uid } = pod.metadata;
      if (admitted.has(uid)) return undefined;
      const answer =
        (isRunning(uid) ? undefined : missingDevices(pod, devices)) ?? refused(await admission.admit(pod, signal));
      if (answer === undefined) admitted.add(uid);
      return answer;
    },
    release: async (podUid) => {
      admitted.delete(podUid);
      await admission.release(podUid);
    },
    grantsOf: async (pod, container) => {
      if (devices.isMissing(pod, container)) await admission.exclusively(() => devices.allocateMissing(pod, container));
      return grantsFrom(await devices.optionsFor(pod, container));
    },
    keepOnly: (isKnown) => admission.exclusively(() => devices.keepOnly(isKnown)),
    close: () => devices.close(),
  };
}

/** No scheduler keeps pods away from a lone node whose plugins are not there yet, as after a boot: they wait for them. */
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

function grantsFrom({ envs, mounts, devices, annotations, cdiDevices }: ContainerDeviceOptions): ContainerGrants {
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
