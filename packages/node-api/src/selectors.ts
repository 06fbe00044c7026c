/** Parses the label and field selectors of the Kubernetes API (apimachinery, pkg/labels and pkg/fields). */
import { didYouMean, PodwrightError } from '@podwright/base';
import { IssueList, labelValue, qualifiedName } from '@podwright/kube-api';

/** Maximum length of a selector. Neither people nor clients write longer ones. */
export const MAX_SELECTOR_LENGTH = 4096;

/** Returns whether an object's labels match. */
export type LabelSelector = (labels: Record<string, string> | undefined) => boolean;

/** An object's selectable fields; each function returns a field's value as text. */
export type SelectableFields<T> = Record<string, (object: T) => string>;

type Requirement = { key: string; operator: Operator; values: string[] };
type Operator = 'exists' | 'absent' | 'in' | 'notin' | 'gt' | 'lt';

const SET = /^(?<key>\S+?)\s+(?<operator>in|notin)\s*\((?<values>[^()]*)\)$/;
const COMPARED = /^(?<key>[^=!<>\s]+)\s*(?<operator>==|=|!=|>|<)\s*(?<value>[^=!<>\s]*)$/;
const OPERATORS: Record<string, Operator> = { '=': 'in', '==': 'in', '!=': 'notin', '>': 'gt', '<': 'lt' };

/**
 * Parses `a=b,c!=d,e,!f,g in (h,i),j notin (k),l>1`. An empty selector matches every object. Throws `invalid_argument` naming the invalid
 * requirement.
 */
export function parseLabelSelector(text: string): LabelSelector {
  const requirements = splitOutsideParentheses(bounded(text, 'label selector')).map(parseRequirement);
  return (labels = {}) => requirements.every((requirement) => isMet(requirement, labels));
}

function parseRequirement(text: string): Requirement {
  const wrong = (why: string) => refuse('label selector', text, why);
  const set = SET.exec(text)?.groups;
  const compared = COMPARED.exec(text)?.groups;
  const bare = /^(?<absent>!?)\s*(?<key>[^=!<>\s]+)$/.exec(text)?.groups;
  const found = set ?? compared ?? bare ?? wrong('is not one of key=value, key!=value, key, !key, key in (a,b)');
  checkText(found.key!, { rule: qualifiedName, text, what: 'label selector' });
  if (bare !== undefined) return { key: bare.key!, operator: bare.absent ? 'absent' : 'exists', values: [] };
  const operator = OPERATORS[found.operator!] ?? (found.operator as Operator);
  const values = set === undefined ? [found.value ?? ''] : set.values!.split(',').map((value) => value.trim());
  for (const value of values) checkText(value, { rule: labelValue, text, what: 'label selector' });
  if ((operator === 'gt' || operator === 'lt') && !/^-?\d{1,18}$/.test(values[0]!)) wrong('the value is not a number');
  return { key: found.key!, operator, values };
}

function isMet({ key, operator, values }: Requirement, labels: Record<string, string>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'gt':
    case 'lt':
      if (value === undefined || !/^-?\d{1,18}$/.test(value)) return false;
      return operator === 'gt' ? BigInt(value) > BigInt(values[0]!) : BigInt(value) < BigInt(values[0]!);
  }
}

/**
 * Parses `metadata.name=a,status.phase!=Running`. In values, `\` escapes a comma, an equals sign or a backslash. Throws `invalid_argument`
 * if a field is not selectable.
 */
export function parseFieldSelector<T>(text: string, fields: SelectableFields<T>): (object: T) => boolean {
  const terms = (bounded(text, 'field selector').match(/(?:\\.|[^\\,])+/gs) ?? []).map((term) =>
    parseTerm(term, fields),
  );
  return (object) => terms.every(({ read, equal, value }) => (read(object) === value) === equal);
}

function parseTerm<T>(term: string, fields: SelectableFields<T>) {
  const match = /^\s*([^=!\s]+)\s*(==|=|!=)(.*)$/s.exec(term);
  if (match === null) return refuse('field selector', term, 'is neither field=value nor field!=value');
  const [, field = '', operator, value = ''] = match;
  if (!Object.hasOwn(fields, field)) {
    const known = Object.keys(fields);
    return refuse('field selector', term, `the fields are ${known.join(', ')}${didYouMean(field, known)}`);
  }
  return { read: fields[field]!, equal: operator !== '!=', value: value.replaceAll(/\\([\\,=])/g, '$1') };
}

function bounded(text: string, what: string): string {
  if (text.length <= MAX_SELECTOR_LENGTH) return text;
  return refuse(what, text, `is longer than ${MAX_SELECTOR_LENGTH} characters`);
}

function splitOutsideParentheses(text: string): string[] {
  const parts = text.split(/,(?![^()]*\))/).map((part) => part.trim());
  return text.trim() === '' ? [] : parts;
}

function checkText(
  value: string,
  { rule, text, what }: { rule: (value: string, issues: IssueList) => void; text: string; what: string },
): void {
  const issues = new IssueList();
  rule(value, issues);
  const [issue] = issues.issues;
  if (issue !== undefined) refuse(what, text, issue.message);
}

function refuse(what: string, text: string, why: string): never {
  throw new PodwrightError('invalid_argument', `${what} "${text.slice(0, 80)}": ${why}`);
}
