/** Validates updates that add node constraints to a pod still waiting for its scheduling gates. */
import type { Field } from '../field.ts';
import { shownLabels } from '../selectors.ts';
import {
  isSameValue,
  type JsonObject,
  listAt,
  objectAt,
  objectsAt,
  textEntriesAt,
  valueAt,
  withValue,
} from '../values.ts';

const AFFINITY = ['affinity', 'nodeAffinity'];
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const TERMS = [REQUIRED, 'nodeSelectorTerms'];

/**
 * Validates changes to a gated pod's node selector and node affinity. Returns the new spec with the old node selector and affinity, for
 * comparison with the old spec. `field` is the field of the spec.
 */
export function withOldScheduling(spec: JsonObject, old: JsonObject, field: Field): JsonObject {
  if (objectsAt(old, 'schedulingGates').length === 0) return spec;
  let result = spec;
  if (!isSameValue(spec.nodeSelector, old.nodeSelector)) {
    validateSelector(spec, old, field.at('nodeSelector'));
    result = withValue(result, ['nodeSelector'], old.nodeSelector);
  }
  const before = objectAt(old, ...AFFINITY);
  const after = objectAt(result, ...AFFINITY);
  if (isSameValue(before, after)) return result;
  validateAffinity(after, before, field.at(...AFFINITY));
  result = withValue(result, AFFINITY, before);
  const isEmpty = Object.keys(objectAt(result, 'affinity') ?? {}).length === 0;
  return isEmpty && objectAt(old, 'affinity') === undefined ? withValue(result, ['affinity'], undefined) : result;
}

function validateSelector(spec: JsonObject, old: JsonObject, field: Field): void {
  const selector = objectAt(spec, 'nodeSelector') ?? {};
  const isChanged = textEntriesAt(old, 'nodeSelector').some(([key, value]) => valueAt(selector, key) !== value);
  if (isChanged)
    field.invalid(
      shownLabels(spec.nodeSelector),
      'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    );
}

function validateAffinity(affinity: JsonObject | undefined, old: JsonObject | undefined, field: Field): void {
  if (objectAt(old, REQUIRED) === undefined) return;
  const before = objectsAt(old, ...TERMS);
  const after = objectsAt(affinity, ...TERMS);
  const at = field.at(...TERMS);
  if (before.length > 0 && before.length !== after.length)
    return at.invalid(after, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed');
  for (const [index, term] of before.entries())
    if (!hasOnlyAdditions(after[index]!, term))
      at.at(index).invalid(after[index], 'only additions are allowed (no mutations or deletions)');
}

function hasOnlyAdditions(term: JsonObject, old: JsonObject): boolean {
  const lists = ['matchExpressions', 'matchFields'];
  const wasEmpty = lists.every((name) => listAt(old, name).length === 0);
  if (wasEmpty) return lists.every((name) => listAt(term, name).length === 0);
  return lists.every((name) => {
    const before = listAt(old, name);
    return isSameValue(listAt(term, name).slice(0, before.length), before);
  });
}
