/** Limits of tasks in shims, in milliseconds and bytes. */

/** How long a shim may take to create a task, which may include booting a virtual machine. */
export const CREATE_TIMEOUT_MS = 120_000;
/** How long a shim may take to report a task's state. */
export const STATE_TIMEOUT_MS = 10_000;
/** How long a killed task may take to exit. */
export const KILL_TIMEOUT_MS = 10_000;
/** How long a shim may take to delete a task. The shim itself waits for the last output. */
export const DELETE_TIMEOUT_MS = 10_000;
/** How long a shim that has no more tasks may take to exit. */
export const SHUTDOWN_TIMEOUT_MS = 5_000;
/** How many times to search for shims to kill. One search is not enough, because the shim binary may be starting a shim at that moment. */
export const KILL_ROUNDS = 20;

/** After a process exits, its output pipes are closed once they have been silent for this time; its children may still hold them open. */
export const QUIET_MS = 2_000;
/** Maximum time to spend reading an exited process's output. */
export const FINISH_TIMEOUT_MS = 30_000;
/** Maximum time for an exited task's last output, including the cleanup after a dead shim. */
export const END_TIMEOUT_MS = FINISH_TIMEOUT_MS + 10_000;
/** How long a killed FIFO holder may take to exit. */
export const HOLDER_END_MS = 10_000;

/**
 * Size of a read from an output stream, and therefore the amount of output that may be lost if this process is killed. It is the same as in
 * containerd (`bufSize` in its CRI server's logger). A size of 64 KiB would halve the CPU time.
 */
export const CHUNK_BYTES = 16 * 1024;
/**
 * Maximum number of logs written concurrently: half of Node.js's threads for file operations, so that logs on a hanging disk leave the
 * other threads usable.
 */
export const LOGS_WRITTEN_AT_ONCE = 2;
