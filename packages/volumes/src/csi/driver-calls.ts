/** Calls to a CSI driver for a volume, in the same order and with the same fields as in upstream. Errors are formatted as by Go's gRPC. */
import { type ErrorCode, errorCode, errorMessage, PodwrightError } from '@podwright/base';
import { CSI_PLUGIN, type CsiDriver, type Pod, quantityValue } from '@podwright/kube-api';
import { type VolumeUsage, VolumeUsage_Unit } from '../csi-api.ts';
import { type CsiDrivers, unknownDriver } from './csi-drivers.ts';
import type { CsiObjects } from './csi-objects.ts';
import type { CsiVolume } from './csi-volume.ts';
import { ExpansionFailure, expansionFailure } from './expansion-failure.ts';
import { CSI_TIMEOUT_MS } from './limits.ts';
import { contextAndSecrets, secretData } from './publish-request.ts';
import { type NodeCapabilities, nodeCapabilities, volumeCapability } from './volume-capability.ts';

/** A pod's volume with its CSIDriver object, publish context, driver capabilities and staging path. */
export type MountRequest = {
  pod: Pod;
  volume: CsiVolume;
  driver: CsiDriver | undefined;
  /** The attachment's publish context; empty if the volume is not attachable. */
  publishContext: Record<string, string>;
  capabilities: NodeCapabilities;
  /** The global mount point; `undefined` if the driver does not support staging or the volume is not staged. */
  stagingPath: string | undefined;
};

export type CallParts = { drivers: CsiDrivers; objects: CsiObjects };

export function getCapabilities(
  { drivers }: Pick<CallParts, 'drivers'>,
  driver: string,
  signal: AbortSignal,
): Promise<NodeCapabilities> {
  return drivers.call(driver, async (node) => nodeCapabilities(await node.nodeGetCapabilities({}, bounded(signal))));
}

export async function stage(
  { drivers, objects }: CallParts,
  request: MountRequest,
  signal: AbortSignal,
): Promise<void> {
  const { pod, volume, publishContext, capabilities, stagingPath } = request;
  const failed = volume.isBlock
    ? `${CSI_PLUGIN}: failed to get NodeStageSecretRef PLACE`
    : 'fetching NodeStageSecretRef PLACE failed';
  const secrets = await secretData(volume.stageSecret, { pod, objects, signal, failed });
  await drivers.call(volume.driver, (node) =>
    node.nodeStageVolume(
      {
        volumeId: volume.handle,
        publishContext,
        stagingTargetPath: stagingPath,
        volumeCapability: volumeCapability(volume, capabilities, groupOf(request)),
        secrets,
        volumeContext: volume.attributes,
      },
      bounded(signal),
    ),
  );
}

export async function publish(
  { drivers, objects }: CallParts,
  { targetPath, ...request }: MountRequest & { targetPath: string },
  signal: AbortSignal,
): Promise<void> {
  const { pod, volume, driver, publishContext, capabilities, stagingPath } = request;
  const contextAndSecretFields = await contextAndSecrets({ pod, volume, driver, objects, signal });
  await drivers.call(volume.driver, (node) =>
    node.nodePublishVolume(
      {
        volumeId: volume.handle,
        publishContext,
        stagingTargetPath: stagingPath,
        targetPath,
        volumeCapability: volumeCapability(volume, capabilities, groupOf(request)),
        readonly: volume.readOnly,
        ...contextAndSecretFields,
      },
      bounded(signal),
    ),
  );
}

/** A published volume and its target size. */
export type ExpandRequest = { pod: Pod; volume: CsiVolume; volumePath: string; stagingPath: string; size: string };

/** Calls the driver to expand a volume on the node. Rejects with `ExpansionFailure`. */
export async function expand(
  { drivers, objects }: CallParts,
  { pod, volume, volumePath, stagingPath, size }: ExpandRequest,
  signal: AbortSignal,
): Promise<void> {
  const { driver } = volume;
  const fail = (prefix: string) => (error: unknown) => {
    throw new ExpansionFailure('failed', `${prefix}${errorMessage(error)}`);
  };
  if (!drivers.has(driver)) throw new ExpansionFailure('later', unknownDriver(driver));
  const capabilities = await getCapabilities({ drivers }, driver, signal).catch(
    fail('Expander.NodeExpand failed to check if node supports expansion : '),
  );
  if (!capabilities.expand)
    throw new ExpansionFailure('unsupported', `NodeExpand is not supported by the CSI driver ${driver}`);
  const failed = 'expander.NodeExpand failed to get NodeExpandSecretRef PLACE';
  const secrets = await secretData(volume.expandSecret, { pod, objects, signal, failed }).catch(fail(''));
  const request = {
    volumeId: volume.handle,
    volumePath,
    stagingTargetPath: stagingPath,
    capacityRange: { requiredBytes: quantityValue(size) },
    volumeCapability: volumeCapability({ ...volume, label: undefined }, capabilities, undefined),
    secrets,
  };
  await drivers
    .call(driver, (node) => node.nodeExpandVolume(request, bounded(signal)))
    .catch((error: unknown) => {
      throw expansionFailure(error);
    });
}

export async function unpublish(
  drivers: CsiDrivers,
  which: { driver: string; handle: string; targetPath: string },
): Promise<void> {
  const { driver, handle, targetPath } = which;
  await drivers.call(driver, (node) => node.nodeUnpublishVolume({ volumeId: handle, targetPath }, bounded()));
}

/** Calls the driver to unstage a volume; no-op if it does not support staging. */
export async function unstage(
  drivers: CsiDrivers,
  which: { driver: string; handle: string; stagingPath: string },
): Promise<void> {
  const { driver, handle, stagingPath } = which;
  await drivers.call(driver, async (node) => {
    if (!nodeCapabilities(await node.nodeGetCapabilities({}, bounded())).stage) return;
    await node.nodeUnstageVolume({ volumeId: handle, stagingTargetPath: stagingPath }, bounded());
  });
}

/** A volume's bytes and inodes, as in `/stats/summary`. */
export type VolumeUsageStats = {
  availableBytes?: number;
  capacityBytes?: number;
  usedBytes?: number;
  inodesFree?: number;
  inodes?: number;
  inodesUsed?: number;
};

/** Gets a volume's usage from its driver. Rejects with `unimplemented` if the driver does not support volume statistics. */
export async function usageOf(
  drivers: CsiDrivers,
  { driver, handle, path }: { driver: string; handle: string; path: string },
): Promise<VolumeUsageStats> {
  return await drivers.call(driver, async (node) => {
    if (!nodeCapabilities(await node.nodeGetCapabilities({}, bounded())).volumeStats)
      throw new PodwrightError('unimplemented', `${driver} does not report usage of volumes`);
    const { usage } = await node.nodeGetVolumeStats({ volumeId: handle, volumePath: path }, bounded());
    return Object.assign({}, ...usage.map(usageStats));
  });
}

function usageStats({ unit, available, total, used }: VolumeUsage): VolumeUsageStats {
  const [free, all, taken] = [available, total, used].map(Number);
  if (unit === VolumeUsage_Unit.BYTES) return { availableBytes: free, capacityBytes: all, usedBytes: taken };
  return unit === VolumeUsage_Unit.INODES ? { inodesFree: free, inodes: all, inodesUsed: taken } : {};
}

/** Errors after which the driver may still be working on the request or may have completed it (upstream's isFinalError). */
const UNCERTAIN: ReadonlySet<ErrorCode> = new Set([
  ...(['cancelled', 'deadline_exceeded', 'unavailable', 'resource_exhausted', 'aborted'] as const),
]);

/** Whether an error is final: the driver has not done the work and will not do it later. */
export function isFinal(error: unknown): boolean {
  return !UNCERTAIN.has(errorCode(error));
}

/** Returns the pod's fsGroup if the driver applies it to volumes itself; otherwise `undefined`. */
function groupOf({ pod, capabilities }: MountRequest): number | undefined {
  return capabilities.mountGroup ? pod.spec.securityContext?.fsGroup : undefined;
}

function bounded(signal?: AbortSignal): { signal: AbortSignal | undefined; timeoutMs: number } {
  return { signal, timeoutMs: CSI_TIMEOUT_MS };
}
