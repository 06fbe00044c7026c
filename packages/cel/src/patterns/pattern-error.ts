/** Thrown for a pattern that is too large or that Go rejects. */
export class PatternError extends Error {}
