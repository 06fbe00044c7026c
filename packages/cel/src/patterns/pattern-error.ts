/** Thrown for a pattern that Go rejects, or that is too large. */
export class PatternError extends Error {}
