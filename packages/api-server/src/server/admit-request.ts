import { tooManyRequests } from '@podwright/api-machinery';
import { type FlowClass, type FlowControl, FlowRefused, type LongRunning } from '@podwright/flow-control';
import type { UserInfo } from '@podwright/kube-kinds';
import { callerOf } from '../authorization/known-users.ts';
import type { HttpExchange, HttpResponse } from '../wire/http-exchange.ts';
import type { RequestInfo } from './request-info.ts';
import { timeLimitMs } from './request-lifetime.ts';

/** Maximum number of a caller's (`callerOf`) watches, logs and other requests without a timeout. */
export const MAX_LONG_RUNNING = 2000;

/** A request may wait for a seat for this share of its time limit, as in upstream. */
const WAITING_SHARE = 1 / 4;

export type AdmittedRequest = {
  exchange: HttpExchange;
  info: RequestInfo;
  /** The user as whom the request is made. */
  user: UserInfo;
  isLongRunning: boolean;
};

/**
 * Counts a request as in flight until the returned value is disposed, by the FlowSchemas and priority levels. Long-running requests need no
 * seat, but each caller may have only a number of them. Throws 429 if there are too many requests, and the signal's reason.
 */
export async function admitRequest(
  { flowControl, longRunning }: { flowControl: FlowControl; longRunning: LongRunning },
  { exchange, info, user, isLongRunning }: AdmittedRequest,
): Promise<Disposable> {
  const { response, query, signal } = exchange;
  const caller = callerOf(user.username);
  const one = flowControl.classify({ user, caller, info });
  if (!isLongRunning || info.verb === 'watch') nameFlow(response, one);
  if (isLongRunning) {
    const entered = one.isExempt ? { [Symbol.dispose]: () => undefined } : longRunning.enter(caller);
    if (entered === undefined) throw tooManyRequests('Too many requests, please try again later.', 1);
    return entered;
  }
  try {
    return await flowControl.enter(one, { maxWaitMs: timeLimitMs(query) * WAITING_SHARE, signal });
  } catch (error) {
    throw error instanceof FlowRefused ? tooManyRequests(error.message, error.retryAfterSeconds) : error;
  }
}

/** Sets the headers by which administrators find the FlowSchema and priority level of a response. Their names stay secret. */
function nameFlow(response: HttpResponse, { schema, level }: FlowClass): void {
  if (schema.uid !== '') response.setHeader('x-kubernetes-pf-flowschema-uid', schema.uid);
  if (level.uid !== '') response.setHeader('x-kubernetes-pf-prioritylevel-uid', level.uid);
}
