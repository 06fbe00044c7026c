import type { LabelSelector } from '@podwright/kube-api';

/** Formats labels as `a=b,c=d`, sorted by name. */
export function labelsText(labels: Record<string, string> | undefined): string {
  const pairs = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.map(([key, value]) => `${key}=${value}`).join(',');
}

/** Formats a selector as accepted in API queries: `app=web,tier in (a,b),!old`. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): string {
  const terms = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` })),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      const set = `(${[...values].sort().join(',')})`;
      const texts = { In: `${key} in ${set}`, NotIn: `${key} notin ${set}`, Exists: key, DoesNotExist: `!${key}` };
      return { key, text: texts[operator] };
    }),
  ];
  return terms
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',');
}
