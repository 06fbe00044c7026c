/** What tasks of shims wait for, and how much they keep; milliseconds and bytes. */

/** How long a shim may take to create a task; one for a virtual machine boots it. */
export const CREATE_TIMEOUT_MS = 120_000;
/** How long a shim may take to answer how a task is. */
export const STATE_TIMEOUT_MS = 10_000;
/** How long a killed task may take to end. */
export const KILL_TIMEOUT_MS = 10_000;
/** How long a shim may take to forget a task; it waits for the last output itself. */
export const DELETE_TIMEOUT_MS = 10_000;
/** How long a shim without tasks may take to end. */
export const SHUTDOWN_TIMEOUT_MS = 5_000;
/** How often shims are looked for that are to be killed: a binary that is starting one may do so meanwhile. */
export const KILL_ROUNDS = 20;

/** The output of a process that has ended is given up after so long without more of it. */
export const QUIET_MS = 2_000;
/** The most that its output may go on. */
export const FINISH_TIMEOUT_MS = 30_000;
/** How long the last output of a task that has ended may take, and a dead shim's remains. */
export const END_TIMEOUT_MS = FINISH_TIMEOUT_MS + 10_000;
/** How long the holder of FIFOs may take to end once it is killed. */
export const HOLDER_END_MS = 10_000;

/**
 * So much output of a stream is read at once, and may be lost when we are killed before it is written: as much as containerd reads
 * (`bufSize` of its CRI server's logger). Four times as much would take half of the CPU time.
 */
export const CHUNK_BYTES = 16 * 1024;
/** Half of the threads that Node.js has for files: logs on a disk that does not answer leave the others. */
export const LOGS_WRITTEN_AT_ONCE = 2;
