/** Limits for tasks in shims, in milliseconds and bytes. */

/** Timeout for a shim to create a task, which can include booting a virtual machine. */
export const CREATE_TIMEOUT_MS = 120_000;
/** Timeout for a shim to report a task's state. */
export const STATE_TIMEOUT_MS = 10_000;
/** Timeout for a killed task to exit. */
export const KILL_TIMEOUT_MS = 10_000;
/** Timeout for a shim to delete a task, during which it waits for the last output. */
export const DELETE_TIMEOUT_MS = 10_000;
/** Timeout for a shim without tasks to exit. */
export const SHUTDOWN_TIMEOUT_MS = 5_000;
/** How many times to search for shims to kill. A single search is not enough, because the shim binary might just be starting a shim. */
export const KILL_ROUNDS = 20;

/** How long an exited process's output pipes must be silent before they are closed. The process's children might still hold them open. */
export const QUIET_MS = 2_000;
/** Maximum time to spend reading an exited process's output. */
export const FINISH_TIMEOUT_MS = 30_000;
/**
 * Maximum time to wait after a task's exit until its remaining output has been read. Includes the time for cleaning up if its shim has
 * died.
 */
export const END_TIMEOUT_MS = FINISH_TIMEOUT_MS + 10_000;
/** Timeout for a killed FIFO holder to exit. */
export const HOLDER_END_MS = 10_000;

/**
 * Size of reads from an output stream, and therefore the amount of output that can be lost if this process is killed. The same as in
 * containerd (`bufSize` in its CRI server's logger). 64 KiB would halve the CPU time.
 */
export const CHUNK_BYTES = 16 * 1024;
/**
 * Maximum number of concurrently written logs: half of Node.js's threads for file operations, so that the other half stays usable if a disk
 * with logs hangs.
 */
export const LOGS_WRITTEN_AT_ONCE = 2;
