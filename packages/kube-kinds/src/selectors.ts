/** Selectors of workloads, in addition to labels.ts. */
import { validateLabelSelector } from './labels.ts';
import { type JsonObject, objectAt, objectsAt, textEntriesAt } from './values.ts';

export const isEmptySelector = (selector: unknown): boolean =>
  textEntriesAt(selector, 'matchLabels').length === 0 && objectsAt(selector, 'matchExpressions').length === 0;

/** Whether upstream can evaluate a selector (LabelSelectorAsSelector): it can, if the selector is valid or absent. */
export const isUsableSelector = (selector: unknown): boolean => validateLabelSelector('', selector).length === 0;

/** Labels as Go shows them in errors, sorted by key; null if there are none. */
export const shownLabels = (labels: unknown): JsonObject | null =>
  objectAt(labels) === undefined ? null : Object.fromEntries(textEntriesAt(labels));

/** A selector as Go shows it in errors. */
export function shownSelector(selector: unknown): JsonObject | null {
  const found = objectAt(selector);
  if (found === undefined) return null;
  const { matchLabels, ...others } = found;
  return matchLabels === undefined ? others : { matchLabels: shownLabels(matchLabels), ...others };
}
