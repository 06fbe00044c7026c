import { tooManyRequests } from '@podwright/api-machinery';
import { type FlowClass, type FlowControl, FlowRefused, type LongRunning } from '@podwright/flow-control';
import type { UserInfo } from '@podwright/kube-kinds';
import { callerOf } from '../authorization/known-users.ts';
import type { HttpExchange, HttpResponse } from '../wire/http-exchange.ts';
import type { RequestInfo } from './request-info.ts';
import { timeLimitMs } from './request-lifetime.ts';

/** Maximum number of concurrent watches per caller (`callerOf`) in a cluster with a single node. */
const MAX_WATCHES = 2000;
/**
 * Number of additional watches per caller for each further node. The pods of a DaemonSet share a service account, and a cluster's agents
 * (network, storage, logs, metrics) together need some 40 watches per node, most of them from the namespace kube-system.
 */
const WATCHES_PER_NODE = 100;

/** Returns the maximum number of watches per caller in a cluster with this many nodes. */
export const maxWatches = (nodes: number): number => MAX_WATCHES + WATCHES_PER_NODE * Math.max(0, nodes - 1);

/**
 * A watch counts as one more for each this many characters of its selectors, because it keeps them in parsed form, which takes about twenty
 * times their length. A selector of a usual client has fewer characters.
 */
const SELECTOR_LENGTH = 1000;
const SELECTORS = ['labelSelector', 'fieldSelector'];

/**
 * Maximum number of other concurrent requests without a timeout, such as logs and exec, across all callers except administrators. Each may
 * need about a megabyte of buffers, for its connection to a kubelet or pod and for a client that does not read.
 */
export const MAX_STREAMS = 400;

/** Fraction of its timeout that a request can spend waiting for a seat, as in upstream. */
const WAITING_SHARE = 1 / 4;

export type AdmittedRequest = {
  exchange: HttpExchange;
  info: RequestInfo;
  /** The user whose limits apply: the impersonated one, if any. */
  user: UserInfo;
  isLongRunning: boolean;
};

/**
 * Waits for a seat at the request's priority level, which is held until the returned value is disposed. Long-running requests need no seat,
 * but their number is limited. Rejects with 429 if there are too many requests, or with the signal's reason.
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
    const enter = () => (info.verb === 'watch' ? watches.enter(caller, weightOf(query)) : streams.enter(caller));
    const entered = flowClass.isExempt ? { [Symbol.dispose]: () => undefined } : enter();
    if (entered === undefined) throw tooManyRequests('Too many requests, please try again later.', 1);
    return entered;
  }
  try {
    return await flowControl.enter(flowClass, { maxWaitMs: timeLimitMs(query) * WAITING_SHARE, signal });
  } catch (error) {
    throw error instanceof FlowRefused ? tooManyRequests(error.message, error.retryAfterSeconds) : error;
  }
}

/** As how many watches a watch counts. */
function weightOf(query: URLSearchParams): number {
  const length = SELECTORS.reduce((sum, name) => sum + (query.get(name)?.length ?? 0), 0);
  return 1 + Math.floor(length / SELECTOR_LENGTH);
}

/** Adds the UIDs of the FlowSchema and priority level to the response. As in upstream, clients do not see their names. */
function setFlowHeaders(response: HttpResponse, { schema, level }: FlowClass): void {
  if (schema.uid !== '') response.setHeader('x-kubernetes-pf-flowschema-uid', schema.uid);
  if (level.uid !== '') response.setHeader('x-kubernetes-pf-prioritylevel-uid', level.uid);
}
