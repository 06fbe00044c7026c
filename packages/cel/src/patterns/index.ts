export type { MatchBudget } from './linear-pattern.ts';
export { LinearPattern } from './linear-pattern.ts';
export { PatternError } from './pattern-error.ts';
export { Patterns } from './patterns.ts';
