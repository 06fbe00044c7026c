/** Maximum length of an event message, as in the events.k8s.io API. Longer messages are truncated. */
export const MAX_EVENT_MESSAGE_LENGTH = 1024;
/**
 * Once an object has emitted this many events of the same type and reason, but with different messages, within ten minutes, further ones
 * are combined into one event. Otherwise a probe with ever-changing output would crowd out the events of other pods (client-go,
 * tools/record/events_cache.go).
 */
export const MAX_SIMILAR_EVENTS = 10;
export const SIMILAR_EVENTS_WINDOW_MS = 600_000;
