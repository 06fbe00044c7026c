/** Certificates of a cluster: timers and bounds that are not options, with their sources. */

/** Certificates with their chains usually have a few KiB. */
export const MAX_CERTIFICATE_BYTES = 256 << 10;
/** How long to wait for a request's approval before another one is created (client-go's certificateWaitTimeout). */
export const CERTIFICATE_TIMEOUT_MS = 900_000;
/** Duration of a watch of a request. */
export const CERTIFICATE_WATCH_SECONDS = 300;
/** Pause before a request is read again after an error. */
export const SIGNING_RETRY_MS = 1000;
/** Back-off of failed requests (client-go's certificate manager: five attempts from 2 s on, then every 32 s). */
export const RENEWAL_BACKOFF = { initialMs: 2000, maxMs: 32_000 };
/** Period of the checks whether a certificate is due, or the subject has changed, as upstream: the wall clock may be set. */
export const RENEWAL_WAIT_MS = 1000;
