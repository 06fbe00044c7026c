/** The calls of a driver for one volume, in upstream's order and fields. Errors come in the words of Go's gRPC. */
import { type ErrorCode, errorCode } from '@podwright/base';
import type { CsiDriver } from '../api/storage.ts';
import type { Pod } from '../api/types.ts';
import { CSI_TIMEOUT_MS } from '../limits.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import type { CsiObjects } from './csi-objects.ts';
import type { CsiVolume } from './csi-volume.ts';
import { contextAndSecrets, secretData } from './publish-request.ts';
import { type NodeCapabilities, nodeCapabilities, volumeCapability } from './volume-capability.ts';

/** One volume of a pod, with what was looked up for it. */
export type MountRequest = {
  pod: Pod;
  volume: CsiVolume;
  driver: CsiDriver | undefined;
  /** What the attaching gave; empty where nothing is attached. */
  publishContext: Record<string, string>;
  capabilities: NodeCapabilities;
  /** The global mount; undefined for drivers and volumes without staging. */
  stagingPath: string | undefined;
};

export type CallParts = { drivers: CsiDrivers; objects: CsiObjects };

export function askCapabilities(
  { drivers }: CallParts,
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
  const secrets = await secretData(volume.stageSecret, { pod, objects, signal, field: 'NodeStageSecretRef' });
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
  const told = await contextAndSecrets({ pod, volume, driver, objects, signal });
  await drivers.call(volume.driver, (node) =>
    node.nodePublishVolume(
      {
        volumeId: volume.handle,
        publishContext,
        stagingTargetPath: stagingPath,
        targetPath,
        volumeCapability: volumeCapability(volume, capabilities, groupOf(request)),
        readonly: volume.readOnly,
        ...told,
      },
      bounded(signal),
    ),
  );
}

export async function unpublish(
  drivers: CsiDrivers,
  which: { driver: string; handle: string; targetPath: string },
): Promise<void> {
  const { driver, handle, targetPath } = which;
  await drivers.call(driver, (node) => node.nodeUnpublishVolume({ volumeId: handle, targetPath }, bounded()));
}

/** Nothing if the driver does not stage. */
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

/** Classes of errors after which the driver may still be at work, or has done it all (upstream's isFinalError). */
const UNCERTAIN: ReadonlySet<ErrorCode> = new Set([
  ...(['cancelled', 'deadline_exceeded', 'unavailable', 'resource_exhausted', 'aborted'] as const),
]);

/** Whether the driver has surely not done what it was asked for, and does not do it later. */
export function isFinal(error: unknown): boolean {
  return !UNCERTAIN.has(errorCode(error));
}

/** The pod's group, for a driver that gives volumes to groups itself. */
function groupOf({ pod, capabilities }: MountRequest): number | undefined {
  return capabilities.mountGroup ? pod.spec.securityContext?.fsGroup : undefined;
}

function bounded(signal?: AbortSignal): { signal: AbortSignal | undefined; timeoutMs: number } {
  return { signal, timeoutMs: CSI_TIMEOUT_MS };
}
