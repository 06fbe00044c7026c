export { background, ignoreFailure } from './background.ts';
export { Backoff, type BackoffPolicy } from './backoff.ts';
export { BoundedBytes, gatherBytes } from './bounded-bytes.ts';
export { parseBoundedJson } from './bounded-json.ts';
export { ByteBudget, type ByteShare } from './byte-budget.ts';
export { CachedReading } from './cached-reading.ts';
export { certificateProblem } from './certificate-problem.ts';
export {
  type ChainLimits,
  chainProblem,
  clientContext,
  hasSlowKeys,
  type LimitChains,
  limitClientChains,
  setChainLimits,
} from './chain-limits.ts';
export { clientCiphers } from './client-ciphers.ts';
export { CoalescedWork } from './coalesced-work.ts';
export { pause, raceAbort, sleep, Timer, waitFor, withTimeout } from './deadline.ts';
export {
  type ErrorCode,
  errorCode,
  errorCodeOfStatus,
  errorMessage,
  isAlreadyExists,
  isCancelled,
  isDeadlineExceeded,
  isErrno,
  isNotFound,
  isNothingThere,
  isUnimplemented,
  PodwrightError,
  statusNumber,
  wrapError,
} from './errors.ts';
export { EventLoopBudget } from './event-loop-budget.ts';
export { Broadcast, follow, Subscription } from './event-stream.ts';
export { type Failpoint, noFailpoint } from './failpoint.ts';
export { firstDifference } from './first-difference.ts';
export { nodeLookups, probeLookups, registryLookups } from './host-lookup.ts';
export { getDocument } from './http/get-document.ts';
export { readAnswer } from './http/read-answer.ts';
export { type RequestFields, requestText } from './http/request-text.ts';
export { codeOfHttpStatus } from './http-status.ts';
export { isRecord } from './is-record.ts';
export { KeyedLock, Limiter } from './keyed-lock.ts';
export { Later } from './later.ts';
export { linesOf } from './lines.ts';
export { Listeners } from './listeners.ts';
export { createLogger, type Logger, silentLogger } from './log.ts';
export { Counter, Gauge, Histogram, isProbeMetric, metricIn, metricsText, Registry } from './metrics.ts';
export {
  CONTAINER_DIRECTORY,
  CONTAINER_FILE,
  DAEMON_UMASK,
  EXECUTABLE,
  GROUP_READABLE,
  GROUP_SEARCHABLE,
  GROUP_WRITABLE,
  HOST_PATH_DIRECTORY,
  HOST_PATH_FILE,
  LOG_DIRECTORY,
  LOG_FILE,
  MAPPED_ROOT_DIRECTORY,
  MOUNT_POINT_FILE,
  makePrivateDirectory,
  mendMode,
  OPEN_DIRECTORY,
  OPEN_FILE,
  POD_DIRECTORY,
  POD_FILE,
  PRIVATE_DIRECTORY,
  PRIVATE_FILE,
  PROGRAM_FILE,
  revokeTraversal,
  SET_GROUP_ID,
  STICKY,
  TRAVERSABLE_DIRECTORY,
  UNREADABLE_PROGRAM,
  WRITABLE_BY_OTHERS,
} from './modes.ts';
export { orderGraph } from './order-graph.ts';
export { processMetrics } from './process-metrics.ts';
export { RecentlyUsed } from './recently-used.ts';
export { SharedWork } from './shared-work.ts';
export { isShortage } from './shortage.ts';
export { withSourcePositions } from './source-positions.ts';
export { type Done, type GraphPart, type GraphParts, partsOf, type StartedGraph, startGraph } from './start-graph.ts';
export { didYouMean } from './suggest.ts';
export { SpanStore } from './tracing/span-store.ts';
export { formatTraceparent, parseTraceparent, TRACEPARENT, type TraceContext } from './tracing/trace-context.ts';
export { newTrace, type Span, Tracer, type TraceWork, type TracingOptions, untraced } from './tracing/tracer.ts';
export { TurnQueue } from './turn-queue.ts';
export { describeUndoFailures, Undo, type UndoFailure } from './undo.ts';
export { BUILD, COMMIT, RUNTIME_NAME, VERSION } from './version.ts';
export { counted, repeatedError, shownError } from './words.ts';
export { WorkBudget } from './work-budget.ts';
