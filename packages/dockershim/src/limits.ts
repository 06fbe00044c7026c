/** Maximum size of a sandbox checkpoint, enough for thousands of port mappings. */
export const MAX_CHECKPOINT_BYTES = 1 << 20;

/** Maximum size of a network configuration template. */
export const MAX_TEMPLATE_BYTES = 1 << 20;

/** Timeout for removing a sandbox or its network after a failure. */
export const ROLLBACK_TIMEOUT_MS = 120_000;

/** Maximum size of a buffered Engine response, such as a list of thousands of containers. */
export const MAX_ANSWER_BYTES = 64 << 20;

/** Maximum size of an error response from the Engine. */
export const MAX_ERROR_BYTES = 64 << 10;

/** Timeout of an ordinary Engine call; same as the kubelet's. */
export const CALL_TIMEOUT_MS = 120_000;

/** Maximum number of idle connections to the Engine. */
export const IDLE_SOCKETS = 16;

/** Timeout of `GET /version`. An Engine that takes longer counts as unreachable. */
export const VERSION_TIMEOUT_MS = 10_000;

/** Timeout of `lookAtEngine`, which requests version and info. */
export const LOOK_TIMEOUT_MS = 15_000;

/** How long the Engine's version and info are cached. `GET /info` makes the Engine count all containers and images. */
export const FACTS_CACHE_MS = 60_000;

/** Interval between attempts to reach the Engine at startup. */
export const ENGINE_RETRY_MS = 2000;

/** Maximum number of traces in memory, and maximum number of spans in each. A span takes about 300 bytes. */
export const TRACE_BOUNDS = { traces: 200, spansPerTrace: 100 };

/** Maximum size of a seccomp profile. Docker's default profile is 12 KiB. */
export const MAX_SECCOMP_PROFILE_BYTES = 1 << 20;

/**
 * Maximum grace period when stopping a container. Together with the Engine's margin, it stays below 2³¹ ms, the limit of Node.js timers.
 */
export const MAX_GRACE_SECONDS = 2_000_000;

/** How long an image's names are cached. Inspecting an image is as slow as inspecting a container. */
export const IMAGE_NAMES_CACHE_MS = 10_000;

/** How often to check whether another client has finished removing a container. Gives up after `REMOVAL_TIMEOUT_MS`. */
export const REMOVAL_POLL_MS = 50;
export const REMOVAL_TIMEOUT_MS = 60_000;

/**
 * Maximum size of a single event from the Engine. Events include the container's labels, which an image's author can make arbitrarily long.
 */
export const MAX_EVENT_BYTES = 64 << 20;

/** How long a container list is cached if no change is reported. At most `MAX_CACHED_LISTS` lists are cached. */
export const LIST_CACHE_MS = 5000;
export const MAX_CACHED_LISTS = 16;

/** How long the event stream stays open after the last request for a container list. */
export const LISTS_FOLLOWED_MS = 30_000;

/** Back-off between attempts to follow the Engine's events. */
export const EVENTS_RETRY = { initialMs: 100, maxMs: 2000 };

/** Maximum length of a progress line of a pull or load. A longer line is an error. */
export const MAX_PROGRESS_LINE_BYTES = 64 << 10;

/** Maximum number of files counted in a container's writable layer. */
export const MAX_LAYER_FILES = 1_000_000;
