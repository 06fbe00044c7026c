/** Bounds of ttrpc's calls; milliseconds and bytes. */

/** How long a ttrpc call waits for its answer unless it sets another time. */
export const CALL_TIMEOUT_MS = 30_000;
/** The most ttrpc calls of one connection that are served at once. */
export const MAX_CALLS = 1024;
/** A ttrpc client that leaves more than this of its answers unread is disconnected. */
export const MAX_UNSENT_BYTES = 16 << 20;
/** The most of an error's message that is sent by ttrpc. */
export const MAX_ERROR_CHARACTERS = 4096;
