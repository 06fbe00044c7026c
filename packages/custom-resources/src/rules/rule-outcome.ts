import type { FieldError } from '@podwright/kube-kinds';

/** The errors of an object. Errors of parts that an update did not change are warnings. */
export type RuleOutcome = { readonly errors: FieldError[]; readonly warnings: string[] };

/** Evaluates the rules in CEL of a kind for an object, given its state before an update. */
export type ObjectRules = (object: unknown, old: unknown) => RuleOutcome;
