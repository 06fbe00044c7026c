/** Maximum size of a sandbox's checkpoint, enough for thousands of port mappings. */
export const MAX_CHECKPOINT_BYTES = 1 << 20;

/** Maximum size of a network configuration template. */
export const MAX_TEMPLATE_BYTES = 1 << 20;

/** Timeout for removing a sandbox or its network after a failure. */
export const ROLLBACK_TIMEOUT_MS = 120_000;

/** Maximum size of a response of the Engine that is read as a whole, such as a list of thousands of containers. */
export const MAX_ANSWER_BYTES = 64 << 20;

/** Maximum size of an error message. */
export const MAX_ERROR_BYTES = 64 << 10;

/** Timeout of an ordinary call to the Engine; the same as the kubelet's. */
export const CALL_TIMEOUT_MS = 120_000;

/** Maximum number of idle connections to the Engine. */
export const IDLE_SOCKETS = 16;

/** Timeout of `GET /version`. An Engine that takes longer counts as unreachable. */
export const VERSION_TIMEOUT_MS = 10_000;

/** Timeout of `lookAtEngine`, which requests version and info. */
export const LOOK_TIMEOUT_MS = 15_000;

/** How long the Engine's version and info are cached, because `GET /info` makes the Engine count all containers and images. */
export const FACTS_CACHE_MS = 60_000;

/** Interval between attempts to reach the Engine at the start. */
export const ENGINE_RETRY_MS = 2000;

/** Maximum number of traces in memory, and of spans per trace. A span takes some 300 bytes. */
export const TRACE_BOUNDS = { traces: 200, spansPerTrace: 100 };

/** Maximum size of a seccomp profile. Docker's default profile has 12 KiB. */
export const MAX_SECCOMP_PROFILE_BYTES = 1 << 20;

/** Maximum grace period of a stop. With the margin for the Engine it stays below 2³¹ ms, the limit of timers in Node.js. */
export const MAX_GRACE_SECONDS = 2_000_000;

/** How long the names of an image are cached: inspecting an image takes as long as inspecting a container. */
export const IMAGE_NAMES_CACHE_MS = 10_000;

/** Polling interval and timeout for the removal of a container by another client. */
export const REMOVAL_POLL_MS = 50;
export const REMOVAL_TIMEOUT_MS = 60_000;

/** Maximum size of one event of the Engine. It includes the container's labels, which the author of the image can make arbitrarily long. */
export const MAX_EVENT_BYTES = 64 << 20;

/** How long a list of containers is cached if no change is reported, and the maximum number of cached lists. */
export const LIST_CACHE_MS = 5000;
export const MAX_CACHED_LISTS = 16;

/** How long the event stream stays open after the last list. */
export const LISTS_FOLLOWED_MS = 30_000;

/** Delays between attempts to follow the Engine's events. */
export const EVENTS_RETRY = { initialMs: 100, maxMs: 2000 };

/** Maximum length of a line in the progress of a pull or a load. A longer line is an error. */
export const MAX_PROGRESS_LINE_BYTES = 64 << 10;

/** Maximum number of files of a container's writable layer that are counted. */
export const MAX_LAYER_FILES = 1_000_000;
