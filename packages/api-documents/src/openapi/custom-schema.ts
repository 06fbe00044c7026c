/** The definitions of custom kinds (apiextensions-apiserver, controller/openapi). */
import type { CustomSchema } from '@podwright/kube-schema';
import { definitionName } from './definition-names.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Dialect } from './value-schemas.ts';

const METADATA = 'meta.v1.ObjectMeta';

const TEXTS = {
  apiVersion: 'The group and version of the object.',
  kind: 'The kind of the object.',
  metadata: 'The metadata that all objects have.',
};

/** What the OpenAPI v2 documents contain of a schema: its clients do not know the rest. */
const V2_FIELDS: readonly string[] = ['type', 'description', 'format', 'required'];

type Options = { dialect: Dialect; refer: (type: string) => void };

/** Returns the definition of a custom kind. */
export function customSchema(schema: CustomSchema, { dialect, refer }: Options): JsonSchema {
  refer(METADATA);
  const root = dialect === 'v2' ? reduced(schema) : (schema as JsonSchema);
  const reference = {
    $ref: `${dialect === 'v2' ? '#/definitions/' : '#/components/schemas/'}${definitionName(METADATA)}`,
  };
  const metadata =
    dialect === 'v2'
      ? { ...reference, description: TEXTS.metadata }
      : { description: TEXTS.metadata, allOf: [reference] };
  const own = { apiVersion: text('apiVersion'), kind: text('kind'), metadata };
  return { ...root, properties: { ...root.properties, ...own } };
}

const text = (name: 'apiVersion' | 'kind'): JsonSchema => ({ description: TEXTS[name], type: 'string' });

/** Reduces a schema to what OpenAPI v2 can express. A value that may be null, or has several types, has no type. */
function reduced(schema: CustomSchema): JsonSchema {
  const isAny = schema.nullable === true || schema['x-kubernetes-int-or-string'] === true;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const fields = Object.entries(schema).filter(
    ([name]) => (V2_FIELDS.includes(name) && !(isAny && name === 'type')) || name.startsWith('x-kubernetes-'),
  );
  const { properties, items, additionalProperties: more } = schema;
  const result = Object.fromEntries(fields.filter(([name]) => name !== 'x-kubernetes-validations')) as JsonSchema;
  if (isAny || (preserves && properties === undefined)) return result;
  return {
    ...result,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, reduced(one)])),
    }),
    ...(items && { items: reduced(items) }),
    ...(typeof more === 'object' && { additionalProperties: reduced(more) }),
  };
}
