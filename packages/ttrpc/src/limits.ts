/** Limits on ttrpc calls, in milliseconds and bytes. */

/** Default timeout of a ttrpc call. */
export const CALL_TIMEOUT_MS = 30_000;
/** Maximum number of concurrent calls served on one connection. */
export const MAX_CALLS = 1024;
/** Maximum number of response bytes that a client may leave unread. Above it, the client is disconnected. */
export const MAX_UNSENT_BYTES = 16 << 20;
/** Maximum length of an error message. Longer ones are truncated, when sent as well as when received. */
export const MAX_ERROR_CHARACTERS = 4096;
