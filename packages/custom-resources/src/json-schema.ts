import type { CustomSchema } from '@podwright/kube-schema';

/** A schema with all its validation rules (apiextensions v1, JSONSchemaProps). */
export type JsonSchema = CustomSchema & {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly format?: string;
  readonly title?: string;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly multipleOf?: number;
  readonly enum?: readonly unknown[];
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly allOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly 'x-kubernetes-validations'?: readonly object[];
};

/** Whether a schema, or any schema nested in it, meets a condition. */
export function someSchema(schema: JsonSchema, meets: (one: JsonSchema) => boolean): boolean {
  if (meets(schema)) return true;
  const { additionalProperties: more, items, not } = schema;
  const within = [
    ...Object.values(schema.properties ?? {}),
    ...[schema.allOf ?? [], schema.anyOf ?? [], schema.oneOf ?? []].flat(),
    ...[typeof more === 'object' ? more : undefined, items, not].filter((one) => one !== undefined && one !== null),
  ];
  return within.some((one) => someSchema(one as JsonSchema, meets));
}
