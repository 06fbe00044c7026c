import { errorMessage, PodwrightError } from '@podwright/base';
import { attachmentName, type VolumeAttachment } from '@podwright/kube-api';
import type { CsiObjects } from './csi-objects.ts';
import type { CsiVolume } from './csi-volume.ts';

/**
 * Returns the publish context from the driver's controller, created when the volume was attached. If the volume is not attached, rejects
 * with the reason, worded as in upstream.
 */
export async function publishContext(
  volume: CsiVolume,
  { objects, nodeName, signal }: { objects: CsiObjects; nodeName: string; signal: AbortSignal },
): Promise<Record<string, string>> {
  const name = attachmentName(volume, nodeName);
  const attachment = await objects.attachment(name, signal).catch((error: unknown) => {
    const why = errorMessage(error);
    throw notAttached(`volume ${volume.handle} has GET error for volume attachment ${name}: ${why}`);
  });
  const problem = attachmentProblem(attachment);
  if (problem !== undefined) throw notAttached(problem);
  if (attachment.status?.attached === true) return attachment.status.attachmentMetadata ?? {};
  throw notAttached(`volume ${volume.handle} is not attached for volume attachment ${name}`);
}

function attachmentProblem({ metadata, status }: VolumeAttachment): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'volume attachment is being deleted';
  return status?.attached === true ? undefined : status?.attachError && (status.attachError.message ?? '');
}

function notAttached(why: string): PodwrightError {
  return new PodwrightError('failed_precondition', why);
}
