/** FieldsV1, the format of field sets in `managedFields`: nested objects whose keys are path elements. `.` stands for the field itself. */
import { PodwrightError } from '@podwright/base';
import { isJsonObject, isTooDeep, type JsonObject, setField } from '../json.ts';
import { FieldSet } from './field-set.ts';
import { compareElements, normalElement, type PathElement } from './path-element.ts';

const SELF = '.';

/** Parses a field set. Throws `invalid_argument`. */
export function parseFieldsV1(fields: unknown): FieldSet {
  if (isTooDeep(fields)) throw new PodwrightError('invalid_argument', 'read managed fields: exceeded max depth');
  return parse(fields);
}

function parse(fields: unknown): FieldSet {
  if (!isJsonObject(fields)) throw new PodwrightError('invalid_argument', 'read managed fields: a set is no object');
  const members: PathElement[] = [];
  const children: [PathElement, FieldSet][] = [];
  for (const [key, below] of Object.entries(fields)) {
    if (key === SELF) continue;
    const element = normalElement(key);
    const child = parse(below);
    if (Object.hasOwn(below as JsonObject, SELF) || Object.keys(below as JsonObject).length === 0)
      members.push(element);
    children.push([element, child]);
  }
  return new FieldSet(members, children);
}

/** Formats a field set, with its keys in upstream's order. */
export function formatFieldsV1(set: FieldSet): JsonObject {
  const result: JsonObject = {};
  for (const element of [...new Set([...set.members, ...set.children.keys()])].sort(compareElements)) {
    const below = formatFieldsV1(set.below(element));
    const isBoth = set.members.has(element) && set.children.has(element);
    setField(result, element, isBoth ? { [SELF]: {}, ...below } : below);
  }
  return result;
}
