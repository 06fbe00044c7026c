import { PodwrightError } from '@podwright/base';
import type { LogQuery } from '@podwright/kubelet';
import { logOptions } from '@podwright/kubelet-server';
import type { LogChoice } from './node-backend.ts';

/** The parameters of the Kubernetes API's pod log; `invalid_argument` names what is wrong. */
export function logQuery(query: URLSearchParams, nowMs: number): LogQuery & LogChoice {
  const options = logOptions(query, nowMs);
  if (options.kind !== 'log') throw new PodwrightError('invalid_argument', options.problem);
  const which = { container: query.get('container') ?? '', containerId: query.get('containerID') ?? undefined };
  return { ...options.query, ...which, previous: options.previous };
}
