/** Probe timeouts and limits, with references; not configurable. */

/**
 * Delay after the first early attempt of a probe on a new container. It doubles with each further early attempt, until the probe's first
 * periodic run.
 */
export const EAGER_PROBE_INITIAL_MS = 25;
/** Maximum number of back-to-back attempts if a probe cannot be executed (upstream's maxProbeRetries). */
export const MAX_PROBE_TRIES = 3;
/**
 * A container that started at most this long before the kubelet is treated as if it had started while the kubelet was running (upstream's
 * kubeletRestartGracePeriod).
 */
export const KUBELET_RESTART_GRACE_MS = 10_000;
/** Maximum length of a probe's output in events. */
export const MAX_PROBE_OUTPUT_BYTES = 1024;
/** Maximum length of a response body, as in upstream. */
export const MAX_PROBE_BODY_BYTES = 10 << 10;
/** Maximum number of requests per probe, including redirects, as in Go's client. */
export const MAX_PROBE_REQUESTS = 10;
/** Response limits for one HTTP probe, enough for the headers and bodies of all redirects. */
export const HTTP_ANSWER_LIMITS = { bytes: 256 << 10, events: 1000 };
/**
 * Response limits for one gRPC probe. A health-check response consists of a few hundred bytes in about ten frames of at least nine bytes
 * each (RFC 9113, 4.1).
 */
export const GRPC_ANSWER_LIMITS = { bytes: 16 << 10, events: 100 };
