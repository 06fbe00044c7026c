import { tooManyRequests } from '@podwright/api-machinery';
import { type FlowClass, type FlowControl, FlowRefused, type LongRunning } from '@podwright/flow-control';
import type { UserInfo } from '@podwright/kube-kinds';
import { callerOf } from '../authorization/known-users.ts';
import type { HttpExchange, HttpResponse } from '../wire/http-exchange.ts';
import type { RequestInfo } from './request-info.ts';
import { timeLimitMs } from './request-lifetime.ts';

/** Maximum number of watches that a caller (`callerOf`) may have at a time, on one node. */
const MAX_WATCHES = 2000;
/**
 * The maximum grows by this number for each further node: the pods of a DaemonSet have the same service account, and the agents of a
 * cluster (network, storage, logs, metrics) together need some 40 watches on each node, most of them in the namespace kube-system.
 */
const WATCHES_PER_NODE = 100;

/** Returns the maximum number of watches of a caller in a cluster with this number of nodes. */
export const maxWatches = (nodes: number): number => MAX_WATCHES + WATCHES_PER_NODE * Math.max(0, nodes - 1);

/**
 * Maximum number of other requests without a timeout, such as logs and exec, that all callers except administrators may have at a time. Each
 * may need about a megabyte for connections to a kubelet or a pod, and for a client that does not read.
 */
export const MAX_STREAMS = 400;

/** Share of its timeout that a request may spend waiting for a seat, as in upstream. */
const WAITING_SHARE = 1 / 4;

export type AdmittedRequest = {
  exchange: HttpExchange;
  info: RequestInfo;
  /** The request's user, after impersonation. */
  user: UserInfo;
  isLongRunning: boolean;
};

/**
 * Gives a request a seat of its priority level, which it has until the returned value is disposed. Long-running requests need no seat, but
 * their number is limited. Rejects with 429 if there are too many requests, and with the signal's reason.
 */
export async function admitRequest(
  { flowControl, watches, streams }: { flowControl: FlowControl; watches: LongRunning; streams: LongRunning },
  { exchange, info, user, isLongRunning }: AdmittedRequest,
): Promise<Disposable> {
  const { response, query, signal } = exchange;
  const caller = callerOf(user.username);
  const flowClass = flowControl.classify({ user, caller, info });
  if (!isLongRunning || info.verb === 'watch') setFlowHeaders(response, flowClass);
  if (isLongRunning) {
    const limit = info.verb === 'watch' ? watches : streams;
    const entered = flowClass.isExempt ? { [Symbol.dispose]: () => undefined } : limit.enter(caller);
    if (entered === undefined) throw tooManyRequests('Too many requests, please try again later.', 1);
    return entered;
  }
  try {
    return await flowControl.enter(flowClass, { maxWaitMs: timeLimitMs(query) * WAITING_SHARE, signal });
  } catch (error) {
    throw error instanceof FlowRefused ? tooManyRequests(error.message, error.retryAfterSeconds) : error;
  }
}

/** Adds the UIDs of the FlowSchema and priority level to the response. As in upstream, clients do not see their names. */
function setFlowHeaders(response: HttpResponse, { schema, level }: FlowClass): void {
  if (schema.uid !== '') response.setHeader('x-kubernetes-pf-flowschema-uid', schema.uid);
  if (level.uid !== '') response.setHeader('x-kubernetes-pf-prioritylevel-uid', level.uid);
}
