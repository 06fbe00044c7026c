/** What this package waits for, and how much it keeps; milliseconds and bytes. */

/** How long a shim's binary may take to start its shim or to clean up after it. */
export const PROGRAM_TIMEOUT_MS = 30_000;
/** The most that an error quotes of what a shim's binary wrote. */
export const PROGRAM_ERROR_CHARACTERS = 2_000;
/** How long a shim may take to accept a connection, and to answer whether it is there. */
export const CONNECT_TIMEOUT_MS = 10_000;

/**
 * How long the event socket of an earlier process of ours may seem alive: a program that it was just starting when it was killed has
 * the socket, too. And how often it is tried.
 */
export const TAKEOVER_TIMEOUT_MS = 10_000;
export const TAKEOVER_LOOK_MS = 50;
/** The most that one event may have. */
export const MAX_EVENT_BYTES = 1 << 20;
/** A longer line of a shim's log is taken for several. */
export const MAX_LOG_LINE_BYTES = 4096;
