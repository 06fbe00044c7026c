import type { LabelSelector } from './rbac-objects.ts';

type Labels = Readonly<Record<string, string>>;
type Requirement = (labels: Labels) => boolean;

/**
 * Returns a predicate for labels that match the selector, or `undefined` if the selector is invalid. An empty selector matches all labels.
 */
export function labelsMatch({ matchLabels, matchExpressions }: LabelSelector): Requirement | undefined {
  const exact = Object.entries(matchLabels ?? {}).map(([key, value]): Requirement => isOneOf(key, [value]));
  const expressions = (matchExpressions ?? []).map(requirementOf);
  if (expressions.includes(undefined)) return undefined;
  const requirements = [...exact, ...expressions.map((requirement) => requirement!)];
  return (labels) => requirements.every((requirement) => requirement(labels));
}

type Expression = NonNullable<LabelSelector['matchExpressions']>[number];

function requirementOf({ key, operator, values }: Expression): Requirement | undefined {
  const list = values ?? [];
  const needsValues = operator === 'In' || operator === 'NotIn';
  if (needsValues === (list.length === 0)) return undefined;
  switch (operator) {
    case 'In':
      return isOneOf(key, list);
    case 'NotIn':
      return (labels) => !isOneOf(key, list)(labels);
    case 'Exists':
      return (labels) => Object.hasOwn(labels, key);
    case 'DoesNotExist':
      return (labels) => !Object.hasOwn(labels, key);
    default:
      return undefined;
  }
}

const isOneOf =
  (key: string, values: readonly string[]): Requirement =>
  (labels) =>
    Object.hasOwn(labels, key) && values.includes(labels[key]!);
