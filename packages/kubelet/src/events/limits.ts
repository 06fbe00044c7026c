/** Maximum message length, the limit of the events.k8s.io API; longer messages are truncated. */
export const MAX_EVENT_MESSAGE_LENGTH = 1024;
/**
 * Number of events of one object, type and reason within ten minutes whose messages differ; further ones are combined into one event.
 * Otherwise a probe whose output always differs would evict the events of other pods (client-go, tools/record/events_cache.go).
 */
export const MAX_SIMILAR_EVENTS = 10;
export const SIMILAR_EVENTS_WINDOW_MS = 600_000;
