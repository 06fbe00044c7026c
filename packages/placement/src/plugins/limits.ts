/** Pauses between tries of what plugins of the node are asked for, as upstream doubles them (pkg/util/goroutinemap/exponentialbackoff). */
export const VOLUME_BACKOFF = { initialMs: 500, maxMs: 122_000 };
/** The longest answer of a plugin: Go's default. */
export const MAX_PLUGIN_ANSWER_BYTES = 4 << 20;
