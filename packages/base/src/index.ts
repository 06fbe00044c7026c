export {
  removeFileDurable,
  removeUnfinished,
  syncDirectory,
  writeFileAtomic,
  writeFileAtomicSync,
  writeFileDurable,
} from './atomic-file.ts';
export { background, ignoreFailure } from './background.ts';
export { Backoff, type BackoffPolicy } from './backoff.ts';
export { BoundedBytes, gatherBytes } from './bounded-bytes.ts';
export {
  type CgroupDriver,
  type CgroupHierarchy,
  type CgroupLimits,
  type CgroupMode,
  type CgroupPressure,
  type CgroupStats,
  CpuSamples,
  type CpuStats,
  cgroupDirectory,
  cgroupExists,
  cgroupPathOf,
  cgroupPids,
  countCgroupProcesses,
  cpuWeightOfShares,
  createCgroup,
  type DeviceIo,
  delegateCgroup,
  delegatedUnit,
  discoverCgroups,
  endDelegation,
  endScope,
  endSlice,
  isSystemdHost,
  killCgroup,
  limitWrites,
  listChildCgroups,
  type MemoryStats,
  type PressureStats,
  parseSystemdCgroup,
  readCgroupFile,
  readCgroupStats,
  readCgroupUse,
  readHostPressure,
  readOomKills,
  removeCgroup,
  type SliceProperties,
  scopeOf,
  setCgroupLimits,
  setSlice,
  slicePath,
  systemdObstacle,
  takesScopeOomPolicy,
  treeOf,
} from './cgroup/index.ts';
export { Checkpoint, fieldsOf } from './checkpoint.ts';
export { CoalescedWork } from './coalesced-work.ts';
export { pause, raceAbort, sleep, Timer, waitFor, withTimeout } from './deadline.ts';
export { namesIn, removeIfEmpty } from './directory.ts';
export { namesInSync } from './directory-sync.ts';
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
export { findProgram, type ProgramFinding, programDirectories, readVersion, requireProgram } from './find-program.ts';
export { firstDifference } from './first-difference.ts';
export { getDocument, type RequestFields, readAnswer, requestText } from './http/index.ts';
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
  revokeTraversal,
  SET_GROUP_ID,
  STICKY,
  TRAVERSABLE_DIRECTORY,
  UNREADABLE_PROGRAM,
  WRITABLE_BY_OTHERS,
} from './modes.ts';
export { type InterfaceUse, parseInterfaces } from './network-use.ts';
export { orderGraph } from './order-graph.ts';
export { findProcesses, listProcesses, parseProcessStart, readProcessStart } from './processes.ts';
export { type ProgramResult, runChecked, runProgram } from './program.ts';
export { type ProgramStarter, type StartedProgram, type StartOptions, startByFork } from './program-starter.ts';
export { RecentlyUsed } from './recently-used.ts';
export { removeTree } from './remove-tree.ts';
export { readPodResolvConf } from './resolv-conf.ts';
export { SharedWork } from './shared-work.ts';
export { isShortage } from './shortage.ts';
export { MAX_SOCKET_PATH_BYTES } from './socket-path.ts';
export { withSourcePositions } from './source-positions.ts';
export { type Done, type GraphPart, type GraphParts, partsOf, type StartedGraph, startGraph } from './start-graph.ts';
export { didYouMean } from './suggest.ts';
export {
  formatTraceparent,
  newTrace,
  parseTraceparent,
  type Span,
  SpanStore,
  TRACEPARENT,
  type TraceContext,
  Tracer,
  type TraceWork,
  type TracingOptions,
  untraced,
} from './tracing/index.ts';
export { Trash } from './trash.ts';
export { describeUndoFailures, Undo, type UndoFailure } from './undo.ts';
export { listenUnix, refuseTakenSocket, type SocketFile } from './unix-socket.ts';
export { RUNTIME_NAME, VERSION } from './version.ts';
export { counted, repeatedError, shownError } from './words.ts';
