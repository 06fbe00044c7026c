/** Most bytes of a sandbox's checkpoint: thousands of port mappings. */
export const MAX_CHECKPOINT_BYTES = 1 << 20;

/** Most bytes of a template of a network configuration. */
export const MAX_TEMPLATE_BYTES = 1 << 20;

/** How long the network of a pod may take to be removed after something failed, in milliseconds. */
export const TAKE_BACK_TIMEOUT_MS = 120_000;

/** Most bytes of an answer of the Engine that is read as a whole: an inspection, a list of thousands of containers. */
export const MAX_ANSWER_BYTES = 64 << 20;

/** Most bytes of an error's text. */
export const MAX_ERROR_BYTES = 64 << 10;

/** How long an ordinary call of the Engine may take, in milliseconds; the kubelet's own deadline is two minutes. */
export const CALL_TIMEOUT_MS = 120_000;

/** Sockets to the Engine that are kept open for further calls. */
export const IDLE_SOCKETS = 16;

/** How long the Engine may take to say which version it is: one that takes longer counts as away. */
export const VERSION_TIMEOUT_MS = 10_000;

/** How long the Engine may take to say that and what it is like, to people who wait for it. */
export const LOOK_TIMEOUT_MS = 15_000;

/** How long what the Engine says about itself is believed, in milliseconds: `GET /info` counts all containers and images. */
export const FACTS_KEPT_MS = 60_000;

/** How often an Engine that is away is looked for, in milliseconds. */
export const ENGINE_RETRY_MS = 2000;

/** How much is known of traced calls; a span takes some 300 bytes. */
export const TRACE_BOUNDS = { traces: 200, spansPerTrace: 100 };

/** Most bytes of a seccomp profile; Docker's own has 12 KiB. */
export const MAX_SECCOMP_PROFILE_BYTES = 1 << 20;

/** The longest stop that a timer can wait for, in seconds; with the Engine's margin it is below Node.js's 2³¹ ms. */
export const MAX_GRACE_SECONDS = 2_000_000;

/** How long the names of an image are believed, in milliseconds: to tell them takes the Engine as long as a container's status. */
export const IMAGE_NAMES_KEPT_MS = 10_000;

/** How often a container that somebody else removes is looked for, and for how long, in milliseconds. */
export const REMOVAL_POLL_MS = 50;
export const REMOVAL_TIMEOUT_MS = 60_000;

/** Most bytes of one event of the Engine: its container's labels are in it, and an image's author chooses how long those are. */
export const MAX_EVENT_BYTES = 64 << 20;

/** How long a list of containers is believed that nothing seems to have changed since, in milliseconds, and how many there are. */
export const LIST_KEPT_MS = 5000;
export const MAX_KEPT_LISTS = 16;

/** How long changes are followed after the last list, in milliseconds. */
export const LISTS_FOLLOWED_MS = 30_000;

/** Delays between attempts to follow the Engine's events, in milliseconds. */
export const EVENTS_RETRY = { initialMs: 100, maxMs: 2000 };

/** Most bytes of one line of the progress of a pull or a load; what is longer is no progress. */
export const MAX_PROGRESS_LINE_BYTES = 64 << 10;

/** Most files of a container's written layer that are counted. */
export const MAX_LAYER_FILES = 1_000_000;
