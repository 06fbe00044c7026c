import type { FieldError } from '@podwright/kube-kinds';

/**
 * The result of evaluating a definition's CEL rules for an object. Errors in parts of the object that an update did not change become
 * warnings.
 */
export type RuleOutcome = { readonly errors: FieldError[]; readonly warnings: string[] };

/** Evaluates the CEL rules for an object, yielding to other work between rules. `old` is the object before an update. */
export type ObjectRules = (object: unknown, old: unknown) => Promise<RuleOutcome>;
