/** Helpers for workload selectors, in addition to those in labels.ts. */
import { validateLabelSelector } from './labels.ts';
import { type JsonObject, objectAt, objectsAt, textEntriesAt } from './values.ts';

export const isEmptySelector = (selector: unknown): boolean =>
  textEntriesAt(selector, 'matchLabels').length === 0 && objectsAt(selector, 'matchExpressions').length === 0;

/** Returns true if upstream can evaluate a selector (LabelSelectorAsSelector), i.e. if it is valid or absent. */
export const isUsableSelector = (selector: unknown): boolean => validateLabelSelector('', selector).length === 0;

/** Returns labels as shown in Go's errors: sorted by key, or null if there are none. */
export const shownLabels = (labels: unknown): JsonObject | null =>
  objectAt(labels) === undefined ? null : Object.fromEntries(textEntriesAt(labels));

/** Returns a selector as shown in Go's errors. */
export function shownSelector(selector: unknown): JsonObject | null {
  const found = objectAt(selector);
  if (found === undefined) return null;
  const { matchLabels, ...others } = found;
  return matchLabels === undefined ? others : { matchLabels: shownLabels(matchLabels), ...others };
}
