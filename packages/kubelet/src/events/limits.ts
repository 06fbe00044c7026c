/** A message longer than this is cut, as the Kubernetes API does. */
export const MAX_EVENT_MESSAGE_LENGTH = 1024;
/**
 * Events of one object, type and reason that differ in their message only: of so many within ten minutes, the next ones are
 * counted as one. A probe whose output is never the same would otherwise displace the events of other pods (client-go,
 * tools/record/events_cache.go).
 */
export const MAX_SIMILAR_EVENTS = 10;
export const SIMILAR_EVENTS_WINDOW_MS = 600_000;
