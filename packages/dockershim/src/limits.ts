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

/** How long what the Engine says about itself is believed, in milliseconds: `GET /info` counts all containers and images. */
export const FACTS_KEPT_MS = 60_000;

/** How often an Engine that is away is looked for, in milliseconds. */
export const ENGINE_RETRY_MS = 2000;

/** How much is known of traced calls; a span takes some 300 bytes. */
export const TRACE_BOUNDS = { traces: 200, spansPerTrace: 100 };
