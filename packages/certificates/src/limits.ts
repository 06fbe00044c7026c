/** Timers and limits of cluster-signed certificates that are not configurable, with references. */

/** Maximum size; a certificate and its chain are usually a few KiB. */
export const MAX_CERTIFICATE_BYTES = 256 << 10;
/** How long to wait for a request to be approved and signed before another one is created (client-go's certificateWaitTimeout). */
export const CERTIFICATE_TIMEOUT_MS = 900_000;
/** How long a request is watched before the watch is restarted. */
export const CERTIFICATE_WATCH_SECONDS = 300;
/** Delay before a request is read again after an error. */
export const SIGNING_RETRY_MS = 1000;
/**
 * Backoff after failed attempts. client-go's certificate manager makes five attempts, starting with a delay of 2 s, and then one every 32
 * s.
 */
export const RENEWAL_BACKOFF = { initialMs: 2000, maxMs: 32_000 };
/**
 * How often to check whether a renewal is due or the subject has changed, as in upstream. A single long timer would not notice changes to
 * the wall clock.
 */
export const RENEWAL_WAIT_MS = 1000;
