/** Timers and bounds for certificates from a cluster that are not options, with their sources. */

/** Maximum size. A certificate with its chain usually has a few KiB. */
export const MAX_CERTIFICATE_BYTES = 256 << 10;
/** How long to wait for a request to be approved before another one is created (client-go's certificateWaitTimeout). */
export const CERTIFICATE_TIMEOUT_MS = 900_000;
/** How long a request is watched before a new watch starts. */
export const CERTIFICATE_WATCH_SECONDS = 300;
/** Delay before a request is read again after an error. */
export const SIGNING_RETRY_MS = 1000;
/** Backoff after failed attempts (client-go's certificate manager makes five from 2 s on, and then one every 32 s). */
export const RENEWAL_BACKOFF = { initialMs: 2000, maxMs: 32_000 };
/**
 * How often to check whether a certificate is due or its subject has changed, as upstream does. A single timer would not notice
 * that the wall clock was set.
 */
export const RENEWAL_WAIT_MS = 1000;
