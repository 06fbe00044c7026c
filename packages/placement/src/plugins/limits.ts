/** Back-off of failed volume operations and plugin registrations, as upstream (pkg/util/goroutinemap/exponentialbackoff). */
export const VOLUME_BACKOFF = { initialMs: 500, maxMs: 122_000 };
/** Maximum size of a plugin's answer: gRPC's default in Go. */
export const MAX_PLUGIN_ANSWER_BYTES = 4 << 20;
