/** Back-off after failed volume operations and plugin registrations, as in upstream (pkg/util/goroutinemap/exponentialbackoff). */
export const VOLUME_BACKOFF = { initialMs: 500, maxMs: 122_000 };
/** Maximum size of a plugin's response, the same as the default of Go's gRPC clients. */
export const MAX_PLUGIN_ANSWER_BYTES = 4 << 20;
