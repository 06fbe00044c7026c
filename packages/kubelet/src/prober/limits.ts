/** Probes: timers and bounds that are not options, with their sources. */

/** Until its first tick, an unready container is looked at this often, each time half as often. */
export const EAGER_PROBE_INITIAL_MS = 25;
/** A probe that could not be made is tried so often at once (upstream's maxProbeRetries). */
export const MAX_PROBE_TRIES = 3;
/** A container that began this long before the kubelet may count as one of its own (upstream's kubeletRestartGracePeriod). */
export const KUBELET_RESTART_GRACE_MS = 10_000;
/** Output that an event shows of a failed probe. */
export const MAX_PROBE_OUTPUT_BYTES = 1024;
/** As much of a body as upstream reads. */
export const MAX_PROBE_BODY_BYTES = 10 << 10;
/** Requests of one httpGet handler, as Go's client makes at most. */
export const MAX_PROBE_REQUESTS = 10;
/** Enough for the heads and bodies of all redirects; what a body has beyond that is not read. */
export const HTTP_ANSWER_LIMITS = { bytes: 256 << 10, events: 1000 };
/** A health answer has a few hundred bytes in some ten frames, of which each has nine bytes at least (RFC 9113, 4.1). */
export const GRPC_ANSWER_LIMITS = { bytes: 16 << 10, events: 100 };
