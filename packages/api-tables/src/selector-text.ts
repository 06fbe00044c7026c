import { NONE } from './column.ts';

/** A label selector (meta/v1 LabelSelector). */
export type LabelSelector = {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
};

/** Formats labels in kubectl's `-l` syntax: `a=1,b=2`. */
export function labelsText(labels: Record<string, string> | null | undefined): string {
  return sortedPairs(labels).map(pairText).join(',') || NONE;
}

/** Formats a label selector in kubectl's `-l` syntax: `a=1,b in (x,y),!c`. */
export function selectorText(selector: LabelSelector | null | undefined): string {
  return requirementsOf(selector) || NONE;
}

/** Like `selectorText`, but returns '' if the selector is absent or selects everything. */
export function requirementsOf(selector: LabelSelector | null | undefined): string {
  const { matchLabels, matchExpressions = [] } = selector ?? {};
  const requirements = [
    ...sortedPairs(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` })),
    ...matchExpressions.map((expression) => ({ key: expression.key, text: expressionText(expression) })),
  ];
  return requirements
    .sort((a, b) => compare(a.key, b.key))
    .map(({ text }) => text)
    .join(',');
}

function expressionText({ key, operator, values = [] }: { key: string; operator: string; values?: string[] }): string {
  if (operator === 'Exists') return key;
  if (operator === 'DoesNotExist') return `!${key}`;
  return `${key} ${operator === 'In' ? 'in' : 'notin'} (${[...values].sort(compare).join(',')})`;
}

/** Formats a label selector like Go's generated `String` method, which upstream uses in its tables of policy bindings. */
export function goSelectorText({ matchLabels, matchExpressions = [] }: LabelSelector): string {
  const labels = sortedPairs(matchLabels).map(([key, value]) => `${key}: ${value},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const expressionsText = `MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}}`;
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},${expressionsText},}`;
}

const sortedPairs = (labels: Record<string, string> | null | undefined): [string, string][] =>
  Object.entries(labels ?? {}).sort(([a], [b]) => compare(a, b));

const pairText = ([key, value]: [string, string]): string => `${key}=${value}`;

/** Compares strings in byte order, like Go; correct for ASCII only. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
