/** FieldsV1, the format of field sets in `managedFields`: nested objects whose keys are path elements. `.` represents the field itself. */
import { PodwrightError } from '@podwright/base';
import { isJsonObject, isTooDeep, type JsonObject, setField } from '../json.ts';
import { FieldSet } from './field-set.ts';
import { normalElement, type PathElement, sortedElements } from './path-element.ts';

const SELF = '.';

/** Parses a field set. Throws `invalid_argument`. */
export function parseFieldsV1(fields: unknown): FieldSet {
  if (isTooDeep(fields)) throw new PodwrightError('invalid_argument', 'read managed fields: exceeded max depth');
  return parse(fields);
}

function parse(fields: unknown): FieldSet {
  if (!isJsonObject(fields)) throw new PodwrightError('invalid_argument', 'read managed fields: a set is no object');
  const members = new Set<PathElement>();
  const children = new Map<PathElement, FieldSet>();
  for (const [key, below] of Object.entries(fields)) {
    if (key === SELF) continue;
    const element = normalElement(key);
    if (isEmptyObject(below)) {
      members.add(element);
      continue;
    }
    const child = parse(below);
    if (Object.hasOwn(below as JsonObject, SELF)) members.add(element);
    children.set(element, child);
  }
  return new FieldSet(members, children);
}

/** Most objects in FieldsV1 are `{}`, so this check must be fast. */
function isEmptyObject(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  for (const _ in value) return false;
  return true;
}

/** Formats a field set, with its keys in upstream's order. */
export function formatFieldsV1(set: FieldSet): JsonObject {
  const result: JsonObject = {};
  const { members, children } = set;
  const elements = children.size === 0 ? members : new Set([...members, ...children.keys()]);
  for (const element of sortedElements(elements)) {
    const child = children.get(element);
    const below = child === undefined ? {} : formatFieldsV1(child);
    setField(result, element, child !== undefined && members.has(element) ? { [SELF]: {}, ...below } : below);
  }
  return result;
}
