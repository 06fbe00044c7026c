import type { FieldError } from '@podwright/kube-kinds';

/** The outcome of the rules for an object. Errors in parts unchanged by an update become warnings. */
export type RuleOutcome = { readonly errors: FieldError[]; readonly warnings: string[] };

/** Evaluates the CEL rules for an object, yielding to other work between rules. `old` is the object before an update. */
export type ObjectRules = (object: unknown, old: unknown) => Promise<RuleOutcome>;
