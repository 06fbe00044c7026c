import type { LabelSelector } from './scheduling.ts';

/**
 * Whether labels match a meta/v1 selector. An empty selector matches everything; an absent one matches nothing. As in upstream, an invalid
 * operator matches nothing.
 */
export function matchesLabelSelector(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    matchesEveryLabel(matchLabels, labels) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      if (operator === 'In') return value !== undefined && values.includes(value);
      return operator === 'NotIn' && (value === undefined || !values.includes(value));
    })
  );
}

/** Whether an object's labels include all the wanted labels with the same values. */
export function matchesEveryLabel(
  wanted: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}
