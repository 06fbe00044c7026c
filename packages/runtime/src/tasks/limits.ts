/** Limits of tasks, in milliseconds and bytes. */

/** Limit for each of stdout and stderr, as in containerd (`maxExecSyncSize` of its CRI server). */
export const EXEC_OUTPUT_BYTES = 16 * 1024 * 1024;
/** How long to read output after the process has exited, if one of its children keeps the pipe open. */
export const EXEC_DRAIN_MS = 1_000;
/** How long the OCI runtime may take to start the process of an exec before it is killed. */
export const EXEC_START_TIMEOUT_MS = 10_000;
/** How long the OCI runtime's program may take to exit after its process was killed. */
export const EXEC_END_TIMEOUT_MS = 10_000;
/** Polling interval for the pid file of an exec, in case inotify reports no change. */
export const EXEC_POLL_MS = 100;

/** How long conmon may take to accept attach connections. */
export const ATTACHABLE_TIMEOUT_MS = 10_000;
/** Polling interval for an attach socket, in case SIGIO does not arrive. */
export const ATTACH_POLL_MS = 500;

/** How long the process of a created task may take to continue after its start. */
export const START_TIMEOUT_MS = 10_000;
/** Limit for conmon's report of a failed create. */
export const MONITOR_REPORT_BYTES = 64 * 1024;
/** Polling interval for the monitors of watched tasks: a monitor may die without an event. */
export const MONITOR_POLL_MS = 1_000;
/** Number of these polls between full checks of a task, which are needed because pids are reused and events may be lost. */
export const FULL_CHECK_EVERY = 30;
/** How long a monitor may take to notice that its task has exited. */
export const MONITOR_END_MS = 2_000;

/** How long the kernel may take to empty a cgroup whose processes were killed, and how often they are killed again. */
export const CGROUP_END_MS = 500;
export const CGROUP_END_ATTEMPTS = 10;
/** How often to search for monitors of an unfinished create. One search is not enough, because they may fork in the meantime. */
export const SEARCH_ROUNDS = 10;
