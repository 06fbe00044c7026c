/** Certificates of a cluster: timers and bounds that are not options, with their sources. */

/** A certificate with its chain has a few KiB. */
export const MAX_CERTIFICATE_BYTES = 256 << 10;
/** How long a request for a certificate is waited for before another is made (client-go's certificateWaitTimeout). */
export const CERTIFICATE_TIMEOUT_MS = 900_000;
/** A watch for its answer is begun anew after this long. */
export const CERTIFICATE_WATCH_SECONDS = 300;
/** How long until what has become of a request is looked at again after that failed. */
export const SIGNING_RETRY_MS = 1000;
/** Delays between requests that failed (client-go's certificate manager: five tries from 2 s on, then every 32 s). */
export const RENEWAL_BACKOFF = { initialMs: 2000, maxMs: 32_000 };
/** How often it is looked at whether a certificate is due, or another is wanted, as upstream: the wall clock may be set meanwhile. */
export const RENEWAL_WAIT_MS = 1000;
