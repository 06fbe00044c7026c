/** Label keys whose values in the pod's own labels are merged into a selector (ValidateMatchLabelKeysAndMismatchLabelKeys). */
import type { Field } from '../field.ts';
import { qualifiedNameProblems } from '../names.ts';
import { type JsonObject, objectAt, objectsAt, textAt, textsAt } from '../values.ts';

/** Validates `matchLabelKeys` and `mismatchLabelKeys` in an affinity term or topology spread constraint, along with its `labelSelector`. */
export function validateMatchLabelKeys(holder: JsonObject, field: Field): void {
  const selector = objectAt(holder, 'labelSelector');
  const keys = textsAt(holder, 'matchLabelKeys');
  const mismatched = textsAt(holder, 'mismatchLabelKeys');
  const mismatchedSet = new Set(mismatched);
  validateKeys(keys, field.at('matchLabelKeys'), selector);
  validateKeys(mismatched, field.at('mismatchLabelKeys'), selector);
  if (selector !== undefined) validateMerged(selector, keys, field);
  for (const [index, key] of keys.entries())
    if (mismatchedSet.has(key))
      field.at('matchLabelKeys', index).invalid(key, 'exists in both matchLabelKeys and mismatchLabelKeys');
}

function validateKeys(keys: readonly string[], field: Field, selector: JsonObject | undefined): void {
  if (keys.length > 0 && selector === undefined)
    return field.forbidden('must not be specified when labelSelector is not set');
  for (const [index, key] of keys.entries()) field.at(index).invalidEach(key, qualifiedNameProblems(key));
}

/**
 * Validates a selector that has passed through the API server, which adds an expression for each of `keys`. A key may therefore occur in
 * one expression, but only if the selector has no other condition for that key.
 */
function validateMerged(selector: JsonObject, keys: readonly string[], field: Field): void {
  const seen = new Set(Object.keys(objectAt(selector, 'matchLabels') ?? {}));
  const indexes = new Map(keys.map((key, index) => [key, index]));
  for (const expression of objectsAt(selector, 'matchExpressions')) {
    const key = textAt(expression, 'key');
    const index = indexes.get(key);
    if (index !== undefined && seen.has(key))
      field.at(index).invalid(key, 'exists in both matchLabelKeys and labelSelector');
    seen.add(key);
  }
}
