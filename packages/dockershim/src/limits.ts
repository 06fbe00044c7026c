/** Most bytes of a sandbox's checkpoint; enough for thousands of port mappings. */
export const MAX_CHECKPOINT_BYTES = 1 << 20;

/** Most bytes of a network configuration template. */
export const MAX_TEMPLATE_BYTES = 1 << 20;

/** Timeout of removing a sandbox or its network after a failure, in milliseconds. */
export const ROLLBACK_TIMEOUT_MS = 120_000;

/** Most bytes of an answer of the Engine that is read at once, such as a list of thousands of containers. */
export const MAX_ANSWER_BYTES = 64 << 20;

/** Most bytes of an error message. */
export const MAX_ERROR_BYTES = 64 << 10;

/** Timeout of an ordinary call of the Engine, in milliseconds: the kubelet's own timeout. */
export const CALL_TIMEOUT_MS = 120_000;

/** Most idle connections to the Engine. */
export const IDLE_SOCKETS = 16;

/** Timeout of `GET /version`, in milliseconds: an Engine that takes longer counts as unreachable. */
export const VERSION_TIMEOUT_MS = 10_000;

/** Timeout of `lookAtEngine` (version and info), in milliseconds. */
export const LOOK_TIMEOUT_MS = 15_000;

/** How long the Engine's version and info are cached, in milliseconds: `GET /info` counts all containers and images. */
export const FACTS_CACHE_MS = 60_000;

/** Interval between attempts to reach the Engine at start, in milliseconds. */
export const ENGINE_RETRY_MS = 2000;

/** Most traces and spans in memory; a span takes some 300 bytes. */
export const TRACE_BOUNDS = { traces: 200, spansPerTrace: 100 };

/** Most bytes of a seccomp profile; Docker's default profile has 12 KiB. */
export const MAX_SECCOMP_PROFILE_BYTES = 1 << 20;

/** The longest grace period of a stop, in seconds: with the margin for the Engine it stays below 2³¹ ms, the limit of Node.js timers. */
export const MAX_GRACE_SECONDS = 2_000_000;

/** How long the names of an image are cached, in milliseconds: inspecting an image takes as long as inspecting a container. */
export const IMAGE_NAMES_CACHE_MS = 10_000;

/** Polling interval and timeout for the removal of a container by another client, in milliseconds. */
export const REMOVAL_POLL_MS = 50;
export const REMOVAL_TIMEOUT_MS = 60_000;

/** Most bytes of one event of the Engine: it has the container's labels, whose length the author of the image chooses. */
export const MAX_EVENT_BYTES = 64 << 20;

/** How long a list of containers is cached if no change is reported, in milliseconds, and the most cached lists. */
export const LIST_CACHE_MS = 5000;
export const MAX_CACHED_LISTS = 16;

/** How long the event stream stays open after the last list, in milliseconds. */
export const LISTS_FOLLOWED_MS = 30_000;

/** Delays between attempts to follow the Engine's events, in milliseconds. */
export const EVENTS_RETRY = { initialMs: 100, maxMs: 2000 };

/** Most bytes of one line of the progress of a pull or a load; a longer line is an error. */
export const MAX_PROGRESS_LINE_BYTES = 64 << 10;

/** Most files of a container's writable layer that are counted. */
export const MAX_LAYER_FILES = 1_000_000;
