/** Builds the JSON Schema of a struct from the schema data of built-in kinds. */
import type { Field, PatchStrategy, ScalarType, StructType } from '@podwright/kube-schema';
import { CUSTOM, definitionName } from './definition-names.ts';
import { defaultOf, isGranular, unionsOf } from './field-facts.ts';
import type { JsonSchema } from './json-schema.ts';
import { type Dialect, SCALARS, ZEROS } from './value-schemas.ts';

/** Returns the human-readable description of a type or, if `field` is set, of one of its fields. */
export type Describe = (type: { name: string }, field?: string) => string | undefined;

export type TypeSchemaOptions = {
  dialect: Dialect;
  describe: Describe;
  /** Looks up a struct. Returns `undefined` for value types. */
  structOf: (type: string) => StructType | undefined;
  /** Called with the name of each struct or value type that the schema refers to. */
  refer: (type: string) => void;
};

export function typeSchema(type: StructType, options: TypeSchemaOptions): JsonSchema {
  const description = textOf(options.describe(type));
  const fields = [...type.byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const unions = unionsOf(type.name);
  return {
    ...description,
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    ...(fields.length === 0 ? {} : { properties: propertiesOf(type, fields, options) }),
    ...(type.isAtomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    ...(unions === undefined ? {} : { 'x-kubernetes-unions': unions }),
  };
}

function propertiesOf(type: StructType, fields: readonly Field[], options: TypeSchemaOptions) {
  const entries = fields.map((field) => {
    const { $ref, ...schema } = fieldSchema(field, options);
    const value = options.dialect === 'v3' ? defaultValue(type, field, options) : undefined;
    const more = {
      ...textOf(options.describe(type, field.name)),
      ...(value === undefined ? {} : { default: value }),
      ...schema,
      ...mergeExtensions(type, field),
    };
    return [field.name, $ref === undefined ? more : withReference($ref, more, options.dialect)] as const;
  });
  return Object.fromEntries(entries);
}

const textOf = (description: string | undefined) => (description === undefined ? {} : { description });

/**
 * Returns a schema with a reference and additional keywords. The reference is wrapped in `allOf` if necessary, because in OpenAPI v3 a
 * `$ref` must not have sibling keywords.
 */
function withReference($ref: string, more: JsonSchema, dialect: Dialect): JsonSchema {
  if (dialect === 'v2' || Object.keys(more).length === 0) return { $ref, ...more };
  return { ...more, allOf: [{ $ref }] };
}

function fieldSchema(field: Field, options: TypeSchemaOptions): JsonSchema {
  const element = elementSchema(field.type, options);
  if (field.container === 'none') return element;
  if (field.container === 'map') return { type: 'object', additionalProperties: element };
  return { type: 'array', items: element };
}

/** Returns the schema of a scalar, a value type or a struct. Structs that are encoded as JSON lists have no definition of their own. */
function elementSchema(name: string, options: TypeSchemaOptions): JsonSchema {
  if (Object.hasOwn(SCALARS, name)) return SCALARS[name as ScalarType];
  const { dialect, refer, structOf } = options;
  const list = structOf(name);
  if (list?.isList) return fieldSchema(list.fields[0]!, options);
  refer(name);
  return { $ref: `${dialect === 'v2' ? '#/definitions/' : '#/components/schemas/'}${definitionName(name)}` };
}

/** Returns the default value in upstream's documents: an API default or, for fields that are always encoded, Go's zero value. */
function defaultValue(type: StructType, field: Field, options: TypeSchemaOptions): unknown {
  const explicit = defaultOf(type.name, field.name);
  if (explicit !== undefined) return explicit;
  const { container, isPointer, omitEmpty, omitZero } = field;
  if (type.name.startsWith(CUSTOM)) return undefined; // a list of custom objects, which is no Go type
  if (container !== 'none' || isPointer || omitZero) return undefined;
  const struct = options.structOf(field.type);
  if (struct !== undefined) return struct.isList ? undefined : {};
  return omitEmpty ? undefined : ZEROS[field.type as ScalarType];
}

/** Returns the extensions that control how server-side apply and strategic merge patches merge the field. */
function mergeExtensions(
  type: StructType,
  { name, type: valueType, container, listType, mapKeys, isAtomicMap, patch }: Field,
): JsonSchema {
  const isItems = type.isObject && name === 'items';
  return {
    ...(container === 'list' && !isItems ? { 'x-kubernetes-list-type': listType } : {}),
    ...(mapKeys.length === 0 ? {} : { 'x-kubernetes-list-map-keys': [...mapKeys] }),
    ...(isAtomicMap ? { [`x-kubernetes-${valueType === 'bytes' ? 'list' : 'map'}-type`]: 'atomic' } : {}),
    ...(isGranular(type.name, name) ? { 'x-kubernetes-map-type': 'granular' } : {}),
    ...(patch.mergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': patch.mergeKey }),
    ...strategyOf(patch),
  };
}

function strategyOf({ merge, retainKeys, replace }: PatchStrategy): JsonSchema {
  const names = [merge && 'merge', retainKeys && 'retainKeys', replace && 'replace'].filter((name) => name !== false);
  return names.length === 0 ? {} : { 'x-kubernetes-patch-strategy': names.join(',') };
}
