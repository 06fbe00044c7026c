/** Hardcoded timeouts and limits for cluster-signed certificates, with references. */

/** Maximum size of a certificate with its chain, in bytes. It is usually a few KiB. */
export const MAX_CERTIFICATE_BYTES = 256 << 10;
/** How long to wait for a certificate request to be approved and signed before creating a new one (client-go's certificateWaitTimeout). */
export const CERTIFICATE_TIMEOUT_MS = 900_000;
/** Timeout of each watch on a certificate request, after which the watch is restarted. */
export const CERTIFICATE_WATCH_SECONDS = 300;
/** Delay before rereading a certificate request after an error. */
export const SIGNING_RETRY_MS = 1000;
/**
 * Backoff after failed attempts to renew a certificate. client-go's certificate manager makes five attempts, starting with a delay of 2 s,
 * and then one every 32 s.
 */
export const RENEWAL_BACKOFF = { initialMs: 2000, maxMs: 32_000 };
/**
 * How often to check whether the certificate is due for renewal or the subject has changed, as upstream does. A single long timer would
 * miss wall-clock changes.
 */
export const RENEWAL_WAIT_MS = 1000;
