import type { FieldError } from '@podwright/kube-kinds';

/** The result of the rules for an object. Errors of parts that an update did not change become warnings. */
export type RuleOutcome = { readonly errors: FieldError[]; readonly warnings: string[] };

/** Evaluates the rules in CEL for an object. `old`: the object before an update. Other work runs between two rules. */
export type ObjectRules = (object: unknown, old: unknown) => Promise<RuleOutcome>;
