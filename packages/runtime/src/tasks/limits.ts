/** Limits for tasks, in milliseconds and bytes. */

/** Maximum size of stdout and of stderr, as in containerd (`maxExecSyncSize` in its CRI server). */
export const EXEC_OUTPUT_BYTES = 16 * 1024 * 1024;
/** How long to keep reading output after the process has exited if one of its children keeps the pipe open. */
export const EXEC_DRAIN_MS = 1_000;
/** Timeout for the OCI runtime to start an exec's process; then it is killed. */
export const EXEC_START_TIMEOUT_MS = 10_000;
/** Timeout for the OCI runtime to exit after its process has been killed. */
export const EXEC_END_TIMEOUT_MS = 10_000;
/** Polling interval for an exec's PID file, in case inotify misses a change. */
export const EXEC_POLL_MS = 100;

/** Timeout for conmon to accept attach connections. */
export const ATTACHABLE_TIMEOUT_MS = 10_000;
/** Polling interval for an attach socket, in case SIGIO is lost. */
export const ATTACH_POLL_MS = 500;
/** Maximum pending output per `attach` client. While this buffer is full, the container waits. */
export const ATTACH_BUFFER_BYTES = 4 * 1024 * 1024;
/** How long the container waits before a slow `attach` client is disconnected. In this time, the client has to read half of the buffer. */
export const ATTACH_PATIENCE_MS = 2_000;
/** How much more output is read for a slow client after its process has exited: what may be left in pipes, a terminal and a socket. */
export const LAST_OUTPUT_BYTES = 4 * 1024 * 1024;

/** Timeout for a created task's process to pass the OCI runtime's exec FIFO after it has been started. */
export const START_TIMEOUT_MS = 10_000;
/** Maximum size of conmon's report on a failed create. */
export const MONITOR_REPORT_BYTES = 64 * 1024;
/** Polling interval for the conmon processes (monitors) of watched tasks. A monitor can die without causing an event. */
export const MONITOR_POLL_MS = 1_000;
/** Number of monitor polls between full checks of a task. Full checks are needed because PIDs are reused and events can be lost. */
export const FULL_CHECK_EVERY = 30;
/** Timeout for conmon to notice that its task has exited. */
export const MONITOR_END_MS = 2_000;

/** How long the kernel may take to empty a cgroup after its processes have been killed, before they are killed again. */
export const CGROUP_END_MS = 500;
export const CGROUP_END_ATTEMPTS = 10;
/** How many times to search for the conmon processes of an incomplete create. A single search can miss processes, because they fork. */
export const SEARCH_ROUNDS = 10;
