import { PodwrightError } from '@podwright/base';
import type { ApiPort } from '../api-port.ts';
import { kindText, type Target } from '../target.ts';
import type { Workload } from '../workload.ts';
import { type RolloutStatus, rolloutStatus } from './status.ts';

export type FollowOptions = {
  /** Called with each status that differs from the previous one. */
  onStatus: (status: RolloutStatus) => void;
  signal: AbortSignal;
};

/** Reports the status of a rollout until it is done. Rejects if the object is deleted, or with the signal's abort reason. */
export async function followRollout(
  api: ApiPort,
  target: Target,
  { onStatus, signal: given }: FollowOptions,
): Promise<void> {
  const first = currentStatus(target);
  onStatus(first);
  if (first.isDone) return;
  const ended = new AbortController();
  using _end = { [Symbol.dispose]: () => ended.abort() };
  const signal = AbortSignal.any([given, ended.signal]);
  const path = target.path.slice(0, target.path.lastIndexOf('/'));
  const query = { watch: 'true', fieldSelector: `metadata.name=${target.object.metadata.name}` };
  let { text } = first;
  for await (const { type, object } of api.watch({ method: 'GET', path, query, signal })) {
    if (type === 'DELETED') throw new PodwrightError('not_found', 'object has been deleted');
    if (type === 'BOOKMARK') continue;
    const status = currentStatus({ ...target, object: { ...object, kind: target.kind.kind } });
    if (status.text !== text) onStatus(status);
    text = status.text;
    if (status.isDone) return;
  }
  given.throwIfAborted();
  throw new PodwrightError('unavailable', 'the node has stopped; the watch has ended');
}

/** Returns the current status of a rollout. */
export function currentStatus({ kind, object }: Target): RolloutStatus {
  if (kind.group === 'apps') return rolloutStatus(object as Workload);
  throw new PodwrightError('invalid_argument', `no status viewer has been implemented for ${kindText({ kind })}`);
}
