import { type JsonSchema, someSchema } from '../json-schema.ts';
import { evaluateRules } from './evaluate-rules.ts';
import type { ObjectRules } from './rule-outcome.ts';
import { type RuleNode, ruleTree } from './rule-tree.ts';

/** Returns the rules for objects of a kind; undefined if the schema has none. They are compiled when the first object is written. */
export function objectRules(schema: JsonSchema): ObjectRules | undefined {
  if (!someSchema(schema, (one) => (one['x-kubernetes-validations']?.length ?? 0) > 0)) return undefined;
  let compiled: { tree: RuleNode | undefined } | undefined;
  return async (value, old) => {
    compiled ??= { tree: ruleTree(schema) };
    return compiled.tree === undefined
      ? { errors: [], warnings: [] }
      : await evaluateRules(compiled.tree, { value, old });
  };
}
