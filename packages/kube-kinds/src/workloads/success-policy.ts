/** Validates success policies, which end an Indexed Job before all its indexes have succeeded (validateSuccessPolicy). */
import type { Field } from '../field.ts';
import { type JsonObject, numberAt, objectsAt, textAt, valueAt } from '../values.ts';
import { countIndexes } from './index-intervals.ts';

const MAX_RULES = 20;
const MAX_INDEXES_BYTES = 64 << 10;

export function validateSuccessPolicy(policy: JsonObject, completions: number, field: Field): void {
  const rules = objectsAt(policy, 'rules');
  const at = field.at('rules');
  if (rules.length === 0) at.required('at least one rules must be specified when the successPolicy is specified');
  if (rules.length > MAX_RULES) at.tooMany(rules.length, MAX_RULES);
  for (const [index, rule] of rules.entries()) validateRule(rule, completions, at.at(index));
}

function validateRule(rule: JsonObject, completions: number, field: Field): void {
  const count = numberAt(rule, 'succeededCount');
  const hasIndexes = valueAt(rule, 'succeededIndexes') !== undefined;
  if (count === undefined && !hasIndexes)
    field.required('at least one of succeededCount or succeededIndexes must be specified');
  const total = hasIndexes
    ? validateIndexes(textAt(rule, 'succeededIndexes'), completions, field.at('succeededIndexes'))
    : 0;
  if (count === undefined) return;
  const at = field.at('succeededCount');
  at.notNegative(count);
  const atMost = (limit: number) => `must be less than or equal to ${limit} (the number of`;
  if (count > completions) at.invalid(count, `${atMost(completions)} specified completions)`);
  if (hasIndexes && count > total)
    at.invalid(count, `${atMost(total)} indexes in the specified succeededIndexes field)`);
}

function validateIndexes(text: string, completions: number, field: Field): number {
  if (Buffer.byteLength(text) > MAX_INDEXES_BYTES) field.tooLong(MAX_INDEXES_BYTES);
  const count = countIndexes(text, completions);
  if (typeof count === 'number') return count;
  field.invalid(text, `error parsing succeededIndexes: ${count}`);
  return 0;
}
