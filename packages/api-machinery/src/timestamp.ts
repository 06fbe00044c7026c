/** The format of times in metadata: whole seconds. */
export const timestamp = (timeMs: number): string => `${new Date(timeMs).toISOString().slice(0, 19)}Z`;

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Parses a time in the format of RFC 3339. Returns Unix milliseconds, or NaN for any other text. */
export const parseTime = (text: string): number => (RFC_3339.test(text) ? Date.parse(text) : Number.NaN);
