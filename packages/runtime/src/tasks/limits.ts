/** What the rooms of tasks wait for, and how much they keep; milliseconds and bytes. */

/** The most that is kept of each of stdout and stderr, as by containerd (`maxExecSyncSize` of its CRI server). */
export const EXEC_OUTPUT_BYTES = 16 * 1024 * 1024;
/** How long output is still read after the process has ended while one of its children holds the pipe open. */
export const EXEC_DRAIN_MS = 1_000;
/** How long a program may take to start the process of an exec before it is killed all the same. */
export const EXEC_START_TIMEOUT_MS = 10_000;
/** How long the OCI runtime's program may take to notice that its process was killed. */
export const EXEC_END_TIMEOUT_MS = 10_000;
/** How often the pid file of an exec is looked at although inotify reports no change. */
export const EXEC_LOOK_MS = 100;

/** How long conmon may take until one can attach to it. */
export const ATTACHABLE_TIMEOUT_MS = 10_000;
/** How often an attach socket is looked at although no signal came. */
export const ATTACH_LOOK_MS = 500;

/** How long the process of a created task may take to go on at its start. */
export const START_TIMEOUT_MS = 10_000;
/** The most that is kept of conmon's report of a failed create. */
export const MONITOR_REPORT_BYTES = 64 * 1024;
/** How often the monitors of watched tasks are asked for although no event came: one may die without any. */
export const MONITOR_LOOK_MS = 1_000;
/** After so many of these a task is looked at in full, as pids are used again and an event may be lost. */
export const FULL_LOOK_EVERY = 30;
/** How long a monitor may take to notice that its task has ended. */
export const MONITOR_END_MS = 2_000;

/** How long the kernel may take to let go of a cgroup whose processes were killed, and how often they are killed anew. */
export const CGROUP_END_MS = 500;
export const CGROUP_END_ATTEMPTS = 10;
/** How often the monitors of an unfinished create are searched: they fork meanwhile. */
export const SEARCH_ROUNDS = 10;
