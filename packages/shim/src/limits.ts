/** Timeouts in milliseconds, and sizes in bytes. */

/** How long a shim's binary may take to start a shim or to clean up after it. */
export const PROGRAM_TIMEOUT_MS = 30_000;
/** Most characters of a shim binary's output that an error quotes. */
export const PROGRAM_ERROR_CHARACTERS = 2_000;
/** How long a shim may take to accept a connection, and to answer a liveness check. */
export const CONNECT_TIMEOUT_MS = 10_000;

/**
 * How long the event socket of an earlier runtime process may still accept connections: a program that it was starting when it was killed
 * has inherited the socket. And the interval of the attempts to listen.
 */
export const TAKEOVER_TIMEOUT_MS = 10_000;
export const TAKEOVER_LOOK_MS = 50;
/** Largest event. */
export const MAX_EVENT_BYTES = 1 << 20;
/** A longer line of a shim's log is split. */
export const MAX_LOG_LINE_BYTES = 4096;
