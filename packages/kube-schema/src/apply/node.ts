/** Types as server-side apply sees them: leaves, and lists and maps that are merged. */
import { PodwrightError } from '@podwright/base';
import { fieldOf, isJsonObject, type JsonObject } from '../json.ts';
import { type Field, isStructType, type StructType } from '../schema/field.ts';
import type { Schema } from '../schema/schema.ts';
import { keyElement, type PathElement, valueElement } from './path-element.ts';

/** `leaf`: a scalar, a value type, or a list or map that is replaced as a whole. */
export type Node =
  | { kind: 'leaf' }
  | { kind: 'list'; keys: readonly string[]; element: Node }
  | { kind: 'map'; at(name: string): Node | undefined; isNamed(name: string): boolean };

const LEAF: Node = { kind: 'leaf' };

/** Default values of list keys, for elements that omit the key: the `protocol` of a port (OpenAPI's `default`). */
const KEY_DEFAULTS: JsonObject = { protocol: 'TCP' };

/** Returns the node for a struct: a leaf if server-side apply replaces it as a whole, otherwise a map. */
export function structNode(schema: Schema, type: StructType): Node {
  return type.isAtomic || type.isList ? LEAF : granularNode(schema, type);
}

function granularNode(schema: Schema, type: StructType): Node {
  return {
    kind: 'map',
    isNamed: (name) => type.byName.has(name),
    at: (name) => {
      const field = type.byName.get(name);
      return field && fieldNode(schema, field);
    },
  };
}

function fieldNode(schema: Schema, field: Field): Node {
  const nodeOf = field.isGranular && field.container === 'none' ? granularNode : structNode;
  const element = isStructType(field.type) ? nodeOf(schema, schema.type(field.type)) : LEAF;
  if (field.container === 'none') return field.isAtomicMap ? LEAF : element;
  if (field.container === 'map')
    return field.isAtomicMap ? LEAF : { kind: 'map', isNamed: () => false, at: () => element };
  return field.listType === 'atomic' ? LEAF : { kind: 'list', keys: field.mapKeys, element };
}

/** Returns the path element that identifies a list element. Throws `invalid_argument` for elements that cannot be identified. */
export function listElement({ keys }: { keys: readonly string[] }, element: unknown): PathElement {
  if (keys.length === 0) {
    if (typeof element === 'object') throw unidentified('a set may only have scalars');
    return valueElement(element);
  }
  if (!isJsonObject(element)) throw unidentified('associative list with keys may not have non-map elements');
  const entries = keys.map((key) => [key, fieldOf(element, key) ?? KEY_DEFAULTS[key]]);
  const found = entries.filter(([, value]) => value !== undefined);
  if (found.length === 0)
    throw unidentified(`associative list with keys has an element that omits all key fields ["${keys.join('" "')}"]`);
  return keyElement(Object.fromEntries(found));
}

const unidentified = (why: string) => new PodwrightError('invalid_argument', `identify element of list: ${why}`);

/** Whether a list or map is absent, null or empty. Two such values are compared and merged like leaves. */
export const isEmptyOrAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
