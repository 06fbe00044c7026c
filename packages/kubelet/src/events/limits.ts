/** Longer messages are truncated, as the Kubernetes API does. */
export const MAX_EVENT_MESSAGE_LENGTH = 1024;
/**
 * After this many events within ten minutes of one object, type and reason that differ in their message only, the next ones are
 * combined into one. A probe whose output always differs would otherwise evict the events of other pods (client-go,
 * tools/record/events_cache.go).
 */
export const MAX_SIMILAR_EVENTS = 10;
export const SIMILAR_EVENTS_WINDOW_MS = 600_000;
