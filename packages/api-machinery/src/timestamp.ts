/** Formats a time for object metadata, in whole seconds. */
export const timestamp = (timeMs: number): string => `${new Date(timeMs).toISOString().slice(0, 19)}Z`;

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Parses an RFC 3339 time. Returns Unix milliseconds, or NaN for any other text. */
export const parseTime = (text: string): number => (RFC_3339.test(text) ? Date.parse(text) : Number.NaN);
