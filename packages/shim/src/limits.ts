/** Timeouts in milliseconds, and sizes in bytes. */

/** How long a shim's binary may take to start a shim, or to clean up after one. */
export const PROGRAM_TIMEOUT_MS = 30_000;
/** Maximum number of characters of a shim binary's output quoted in an error message. */
export const PROGRAM_ERROR_CHARACTERS = 2_000;
/** How long a shim may take to accept a connection or to respond to a liveness check. */
export const CONNECT_TIMEOUT_MS = 10_000;

/**
 * How long to wait after a restart until the event socket is free, and the interval between attempts to listen on it. A program that was
 * being started when the previous process was killed has inherited the socket, which might therefore still accept connections.
 */
export const TAKEOVER_TIMEOUT_MS = 10_000;
export const TAKEOVER_LOOK_MS = 50;
/** Maximum size of an event. */
export const MAX_EVENT_BYTES = 1 << 20;
/** Maximum length of a line in a shim's log. Longer lines are split. */
export const MAX_LOG_LINE_BYTES = 4096;
