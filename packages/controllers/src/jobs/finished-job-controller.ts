/** Deletes finished Jobs after their `ttlSecondsAfterFinished` (upstream's pkg/controller/ttlafterfinished). */
import { isApiStatus } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import { type ObjectPlace, placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { finishedCondition, JOBS, type Job } from '../objects/job.ts';

export const finishedJobController: Controller = async (parts) => {
  const { objects, logger, signal } = parts;
  const jobs = objects.of<Job>(JOBS);
  if (!(await untilSynced(jobs))) return;
  const queue: WorkQueue = new WorkQueue({
    sync: async (key) => {
      const againInMs = await deleteExpired(parts, placeOfText(key));
      if (againInMs !== undefined) queue.addAfter(key, againInMs);
    },
    failure: 'failed to delete a finished Job',
    logger,
    signal,
  });
  jobs.onChange(({ object }) => {
    if (untilExpiredMs(object, parts.now()) !== undefined) queue.add(placeText(object.metadata));
  });
  await queue.ended;
};

/** Deletes the Job if it has expired. Otherwise returns the remaining time, in milliseconds. */
export async function deleteExpired(
  { client, objects, now, signal }: Pick<ControllerParts, 'client' | 'objects' | 'now' | 'signal'>,
  place: ObjectPlace,
): Promise<number | undefined> {
  const jobs = objects.of<Job>(JOBS);
  const known = jobs.get(place);
  const leftMs = known === undefined ? undefined : untilExpiredMs(known, now());
  if (leftMs !== 0) return leftMs;
  try {
    const fresh = await client.get<Job>(JOBS, place, { signal }); // its time may have been prolonged
    const freshMs = untilExpiredMs(fresh, now());
    if (freshMs !== 0) return freshMs;
    const { uid, resourceVersion } = fresh.metadata;
    const how = { propagationPolicy: 'Foreground' as const, preconditions: { uid, resourceVersion } };
    await client.delete(JOBS, place, how, { signal });
    jobs.deleting(place, uid);
  } catch (error) {
    if (!isApiStatus(error, 404)) throw error;
  }
  return undefined;
}

/** Returns the time until the Job expires, in milliseconds, or nothing if it is unfinished, never expires, or is already being deleted. */
export function untilExpiredMs(job: Job, nowMs: number): number | undefined {
  const { ttlSecondsAfterFinished } = job.spec;
  const finishedMs = Date.parse(finishedCondition(job)?.lastTransitionTime ?? '');
  if (ttlSecondsAfterFinished === undefined || Number.isNaN(finishedMs)) return undefined;
  if (job.metadata.deletionTimestamp !== undefined) return undefined;
  return Math.max(0, finishedMs + ttlSecondsAfterFinished * 1000 - nowMs);
}
