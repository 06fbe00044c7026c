/** OpenAPI definitions of custom kinds (apiextensions-apiserver, controller/openapi). */
import { isDeepStrictEqual } from 'node:util';
import type { CustomType } from '@podwright/kube-schema';
import { definitionName } from './definition-names.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Dialect } from './value-schemas.ts';

const METADATA = 'meta.v1.ObjectMeta';

const TEXTS = {
  apiVersion: 'The group and version of the object.',
  kind: 'The kind of the object.',
  metadata: 'The metadata that all objects have.',
};

/** The types allowed by `x-kubernetes-int-or-string`, for clients that do not support this extension. */
const INT_OR_STRING: JsonSchema[] = [{ type: 'integer' }, { type: 'string' }];

/** A schema from a CustomResourceDefinition. Declares only the schema fields that this module uses. */
type Given = Omit<JsonSchema, 'properties' | 'items' | 'additionalProperties'> & {
  nullable?: boolean;
  anyOf?: JsonSchema[];
  not?: JsonSchema;
  properties?: Readonly<Record<string, Given>>;
  items?: Given;
  additionalProperties?: Given | boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
};

type Options = { dialect: Dialect; refer: (type: string) => void };

/** Returns the definition of a custom kind. */
export function customSchema(custom: CustomType, { dialect, refer }: Options): JsonSchema {
  const schema = custom.schema as Given;
  const selectable = selectableFields(custom);
  // omits the properties of an OpenAPI v2 schema with `x-kubernetes-preserve-unknown-fields`, because kubectl would otherwise reject the
  // unknown fields
  if (dialect === 'v2' && preserves(schema)) return { type: 'object', ...selectable };
  refer(METADATA);
  const fields = objectFields(dialect);
  const published = (one: Given): Given => {
    const unfolded = withIntOrString(one);
    return dialect === 'v2'
      ? embedded(reduced(unfolded), { fields, omits: preserves })
      : embedded(unfolded, { fields });
  };
  const { properties, ...root } = mapped(schema, published);
  return { ...root, properties: { ...properties, ...fields }, ...selectable } as JsonSchema;
}

/**
 * Returns the OpenAPI extension `x-kubernetes-selectable-fields`, which lists the fields allowed in field selectors. List kinds have it
 * too.
 */
export const selectableFields = ({ selectablePaths = [] }: CustomType): JsonSchema =>
  selectablePaths.length === 0
    ? {}
    : { 'x-kubernetes-selectable-fields': selectablePaths.map((path) => ({ fieldPath: path.replace(/^\./, '') })) };

const preserves = (schema: Given): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true;

function objectFields(dialect: Dialect): Record<'apiVersion' | 'kind' | 'metadata', JsonSchema> {
  const text = (name: 'apiVersion' | 'kind'): JsonSchema => ({ description: TEXTS[name], type: 'string' });
  const $ref = `${dialect === 'v2' ? '#/definitions/' : '#/components/schemas/'}${definitionName(METADATA)}`;
  const metadata =
    dialect === 'v2' ? { $ref, description: TEXTS.metadata } : { description: TEXTS.metadata, allOf: [{ $ref }] };
  return { apiVersion: text('apiVersion'), kind: text('kind'), metadata };
}

/** Applies `change` to a schema and then, recursively, to the schemas of its properties, items and map values. */
function mapped(schema: Given, change: (one: Given) => Given): Given {
  const changed = change(schema);
  const { properties, items, additionalProperties: more } = changed;
  return {
    ...changed,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, mapped(one, change)])),
    }),
    ...(items && { items: mapped(items, change) }),
    ...(typeof more === 'object' && { additionalProperties: mapped(more, change) }),
  };
}

function withIntOrString(schema: Given): Given {
  if (schema['x-kubernetes-int-or-string'] !== true) return schema;
  const { anyOf, allOf = [] } = schema;
  const isIntOrString = (one?: JsonSchema[]) => isDeepStrictEqual(one, INT_OR_STRING);
  if (isIntOrString(anyOf) || isIntOrString((allOf[0] as Given | undefined)?.anyOf)) return schema;
  if (anyOf === undefined) return { ...schema, anyOf: INT_OR_STRING };
  return { ...schema, allOf: [{ anyOf: INT_OR_STRING } as JsonSchema, ...allOf] };
}

/** Adds the fields common to all objects to the schema of an embedded object. */
function embedded(
  schema: Given,
  { fields, omits = () => false }: { fields: Record<string, JsonSchema>; omits?: (schema: Given) => boolean },
): Given {
  if (schema['x-kubernetes-embedded-resource'] !== true || omits(schema)) return schema;
  const { required = [] } = schema;
  return {
    ...schema,
    properties: { ...schema.properties, ...(fields as Record<string, Given>) },
    required: [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))],
  };
}

/**
 * Reduces a schema to what OpenAPI v2 clients understand. Omits the types and fields of values that can be null or have unknown fields,
 * because kubectl would otherwise reject valid values.
 */
function reduced({ allOf, anyOf, oneOf, not, default: _, nullable, ...kept }: Given): Given {
  const { type, items, properties, additionalProperties: more, required, ...rest } = kept;
  const isOpen = nullable === true || preserves(kept);
  const isUntyped = nullable === true || (isOpen && type === 'object') || (type === 'array' && (isOpen || !items));
  const names = isNullable(more) ? [] : (required ?? []).filter((name) => isOpen || !isNullable(properties?.[name]));
  return {
    ...rest,
    ...(isUntyped || type === undefined ? {} : { type }),
    ...(isOpen || items === undefined ? {} : { items }),
    ...(isOpen || properties === undefined ? {} : { properties }),
    ...(more === undefined ? {} : { additionalProperties: more }),
    ...(names.length === 0 ? {} : { required: names }),
  };
}

const isNullable = (schema: Given | boolean | undefined): boolean =>
  typeof schema === 'object' && schema.nullable === true;
