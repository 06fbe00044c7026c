/** Types as server-side apply sees them, as a tree of nodes: leaves, and lists and maps that are merged. */
import { PodwrightError } from '@podwright/base';
import { fieldOf, isJsonObject, type JsonObject } from '../json.ts';
import { allowsAnyField, type CustomSchema, propertyOf } from '../schema/custom-schema.ts';
import { type Field, isStructType, type StructType } from '../schema/field.ts';
import type { Schema } from '../schema/schema.ts';
import { keyElement, type PathElement, valueElement } from './path-element.ts';

/** `leaf`: a single value, or a list, map or struct that is replaced as a whole. */
export type Node =
  /** `isAtomic`: the leaf is a list, map or struct rather than a single value. */
  | { kind: 'leaf'; isAtomic?: true }
  /** `defaults`: default values of the keys, for list elements that omit them. */
  | { kind: 'list'; keys: readonly string[]; defaults?: JsonObject; element: Node }
  | { kind: 'map'; at(name: string): Node | undefined; isNamed(name: string): boolean }
  /** A value whose type is not declared: an object is merged, any other value is a leaf. */
  | { kind: 'deduced' };

const METADATA = 'meta.v1.ObjectMeta';

const LEAF: Node = { kind: 'leaf' };
const ATOMIC: Node = { kind: 'leaf', isAtomic: true };
const DEDUCED: Node = { kind: 'deduced' };
const DEDUCED_MAP: Node = { kind: 'map', isNamed: () => false, at: () => DEDUCED };

/**
 * Returns the node itself or, if it is `deduced`, the type deduced from the values to compare or merge: a map if they are objects,
 * otherwise a leaf.
 */
export function nodeFor(node: Node, ...values: readonly unknown[]): Exclude<Node, { kind: 'deduced' }> {
  if (node.kind !== 'deduced') return node;
  const present = values.filter((value) => value !== undefined && value !== null);
  return (present.length > 0 && present.every(isJsonObject) ? DEDUCED_MAP : LEAF) as never;
}

/** Default values of list keys, for elements that omit the key: the `protocol` of a port (OpenAPI's `default`). */
const KEY_DEFAULTS: JsonObject = { protocol: 'TCP' };

/** Returns the node for a struct: a leaf if server-side apply replaces it as a whole, otherwise a map. */
export function structNode(schema: Schema, type: StructType): Node {
  if (type.custom !== undefined) return customNode(type.custom.schema, structNode(schema, schema.type(METADATA)));
  return type.isAtomic || type.isList ? ATOMIC : granularNode(schema, type);
}

/** Returns the node for a built-in struct whose fields are merged. Nodes are cached. */
function granularNode(schema: Schema, type: StructType): Node {
  return schema.derived(type, 'node', () => {
    const below = new Map<string, Node>();
    const at = (name: string) => {
      const field = type.byName.get(name);
      const node = below.get(name) ?? (field && fieldNode(schema, field));
      if (node !== undefined) below.set(name, node);
      return node;
    };
    return { kind: 'map', isNamed: (name) => type.byName.has(name), at };
  });
}

function fieldNode(schema: Schema, field: Field): Node {
  const nodeOf = field.isGranular && field.container === 'none' ? granularNode : structNode;
  const element = isStructType(field.type) ? nodeOf(schema, schema.type(field.type)) : LEAF;
  if (field.container === 'none') return field.isAtomicMap ? ATOMIC : element;
  if (field.container === 'map')
    return field.isAtomicMap ? ATOMIC : { kind: 'map', isNamed: () => false, at: () => element };
  return field.listType === 'atomic' ? ATOMIC : { kind: 'list', keys: field.mapKeys, element };
}

/** Returns the node for an object of a custom kind, or for an embedded object of any kind. `metadata`: the node for its metadata. */
function customNode(schema: CustomSchema, metadata: Node): Node {
  const rest = valueNode({ ...schema, type: 'object' }, metadata);
  if (rest.kind !== 'map') return rest;
  return {
    kind: 'map',
    isNamed: (name) => OBJECT_FIELDS.includes(name) || rest.isNamed(name),
    at: (name) => (name === 'metadata' ? metadata : OBJECT_FIELDS.includes(name) ? LEAF : rest.at(name)),
  };
}

const OBJECT_FIELDS = ['apiVersion', 'kind', 'metadata'];

function valueNode(schema: CustomSchema, metadata: Node): Node {
  if (schema.type === 'object') return objectNode(schema, metadata);
  if (schema.type === 'array') return arrayNode(schema, metadata);
  return schema.type === undefined && allowsAnyField(schema) ? DEDUCED : LEAF;
}

function objectNode(schema: CustomSchema, metadata: Node): Node {
  if (schema['x-kubernetes-map-type'] === 'atomic') return ATOMIC;
  const { properties = {}, additionalProperties } = schema;
  const hasAny = Object.keys(properties).length > 0 || typeof additionalProperties === 'object';
  if (!hasAny && !allowsAnyField(schema)) return { kind: 'map', isNamed: () => false, at: () => undefined };
  const nodeOf = (one: CustomSchema) =>
    one['x-kubernetes-embedded-resource'] === true ? customNode(one, metadata) : valueNode(one, metadata);
  return {
    kind: 'map',
    isNamed: (name) => Object.hasOwn(properties, name),
    at: (name) => {
      const property = propertyOf(schema, name);
      return property === undefined ? (allowsAnyField(schema) ? DEDUCED : undefined) : nodeOf(property);
    },
  };
}

function arrayNode({ items = {}, ...schema }: CustomSchema, metadata: Node): Node {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'map' && type !== 'set') return ATOMIC;
  const keys = type === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
  const defaults = keys.flatMap((key) => {
    const value = propertyOf(items, key)?.default;
    return value === undefined ? [] : [[key, value] as const];
  });
  return { kind: 'list', keys, defaults: Object.fromEntries(defaults), element: valueNode(items, metadata) };
}

/** Returns the path element that identifies a list element. Throws `invalid_argument` for elements that cannot be identified. */
export function listElement(
  { keys, defaults = KEY_DEFAULTS }: { keys: readonly string[]; defaults?: JsonObject },
  element: unknown,
): PathElement {
  if (keys.length === 0) {
    if (typeof element === 'object') throw unidentified('a set may only have scalars');
    return valueElement(element);
  }
  if (!isJsonObject(element)) throw unidentified('associative list with keys may not have non-map elements');
  const entries = keys.map((key) => [key, fieldOf(element, key) ?? fieldOf(defaults, key)]);
  const found = entries.filter(([, value]) => value !== undefined);
  if (found.length === 0)
    throw unidentified(`associative list with keys has an element that omits all key fields ["${keys.join('" "')}"]`);
  return keyElement(Object.fromEntries(found));
}

const unidentified = (why: string) => new PodwrightError('invalid_argument', `identify element of list: ${why}`);

/** Whether a list or map is absent, null or empty. Two such values are compared and merged like leaves. */
export const isEmptyOrAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
