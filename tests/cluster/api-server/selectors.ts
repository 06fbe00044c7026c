/** Label and field selectors of list, watch and delete-collection requests. */
import { type ApiObject, at } from './json.ts';
import type { ResourceKind } from './resource-kinds.ts';
import { badRequest } from './status-error.ts';

export type Predicate = (object: ApiObject) => boolean;

type Requirement = { key: string; matches: (value: string | undefined) => boolean };

const KEY = String.raw`[A-Za-z0-9](?:[\w./-]*[A-Za-z0-9])?`;
const SET = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const COMPARED = new RegExp(`^(${KEY})\\s*(==|=|!=|>|<)\\s*([\\w.-]*)$`);
const PRESENT = new RegExp(`^(!?)\\s*(${KEY})$`);

export function labelPredicate(selector: string): Predicate {
  const requirements = splitOutside(selector).map(labelRequirement);
  return (object) => {
    const labels = object.metadata.labels ?? {};
    return requirements.every(({ key, matches }) => matches(Object.hasOwn(labels, key) ? labels[key] : undefined));
  };
}

function labelRequirement(text: string): Requirement {
  const set = SET.exec(text);
  if (set !== null) {
    const values = set[3]!.split(',').map((value) => value.trim());
    const wanted = set[2] === 'in';
    return { key: set[1]!, matches: (value) => (value !== undefined && values.includes(value)) === wanted };
  }
  const compared = COMPARED.exec(text);
  if (compared !== null) return { key: compared[1]!, matches: comparison(compared[2]!, compared[3]!) };
  const present = PRESENT.exec(text);
  if (present === null) throw badRequest(`unable to parse requirement: ${text}`);
  return { key: present[2]!, matches: (value) => (value === undefined) === (present[1] === '!') };
}

function comparison(operator: string, wanted: string): Requirement['matches'] {
  if (operator === '!=') return (value) => value !== wanted;
  if (operator === '>') return (value) => value !== undefined && Number(value) > Number(wanted);
  if (operator === '<') return (value) => value !== undefined && Number(value) < Number(wanted);
  return (value) => value === wanted;
}

/** The parts between commas outside of parentheses. */
function splitOutside(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function fieldPredicate(kind: ResourceKind, selector: string): Predicate {
  const terms = selector.split(',').filter((term) => term !== '');
  const predicates = terms.map((term): Predicate => {
    const match = /^([\w.]+)(==|=|!=)(.*)$/.exec(term);
    if (match === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
    const [, field, operator, wanted] = match;
    const absent = absentValue(kind, field!);
    return (object) => (fieldValue(object, field!, absent) === wanted) !== (operator === '!=');
  });
  return (object) => predicates.every((predicate) => predicate(object));
}

/** The single name that a field selector matches, if it does. */
export function nameInSelector(selector: string): string | undefined {
  const terms = selector.split(',').map((term) => /^metadata\.name==?(.+)$/.exec(term)?.[1]);
  return terms.find((name) => name !== undefined);
}

function absentValue(kind: ResourceKind, field: string): string {
  if (field === 'metadata.name' || (field === 'metadata.namespace' && kind.namespaced)) return '';
  const absent = kind.selectable[field];
  if (absent !== undefined) return absent;
  throw badRequest(
    Object.keys(kind.selectable).length > 0
      ? `field label not supported: ${field}`
      : `"${field}" is not a known field selector: only "metadata.name"${kind.namespaced ? ', "metadata.namespace"' : ''}`,
  );
}

function fieldValue(object: ApiObject, field: string, absent: string): string {
  if (field === 'source') return String(at(object, 'source', 'component') ?? at(object, 'reportingComponent') ?? '');
  const value = at(object, ...field.split('.'));
  return value === undefined || value === null ? absent : String(value);
}
