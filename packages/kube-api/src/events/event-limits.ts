/** Maximum length of an event message, the same as in the events.k8s.io API; longer messages are truncated. */
export const MAX_EVENT_MESSAGE_LENGTH = 1024;
/**
 * Once an object has emitted this many events of the same type and reason but with different messages within ten minutes, its events are
 * combined into one. Otherwise a probe whose output always differs would crowd out the events of other pods (client-go,
 * tools/record/events_cache.go).
 */
export const MAX_SIMILAR_EVENTS = 10;
export const SIMILAR_EVENTS_WINDOW_MS = 600_000;
