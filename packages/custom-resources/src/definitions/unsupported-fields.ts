import { type FieldError, forbiddenField } from '@podwright/kube-kinds';
import type { JsonSchema } from '../json-schema.ts';

/** Returns an error for each field of JSON Schema that definitions do not support. */
export function unsupportedFields(field: string, schema: JsonSchema): FieldError[] {
  const all = schema as Readonly<Record<string, unknown>>;
  const forbid = (name: string, detail = `${name} is not supported`) =>
    isSet(all[name]) ? [forbiddenField(`${field}.${name}`, detail)] : [];
  return [
    ...forbid('id'),
    ...forbid('additionalItems'),
    ...forbid('patternProperties'),
    ...forbid('definitions'),
    ...forbid('dependencies'),
    ...forbid('$ref'),
    ...(schema.type === 'null'
      ? [forbiddenField(`${field}.type`, 'type cannot be set to null, use nullable as an alternative')]
      : []),
    ...(Array.isArray(schema.items)
      ? [forbiddenField(`${field}.items`, 'items must be a schema object and not an array')]
      : []),
    ...forbid('uniqueItems', 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'),
  ];
}

const isSet = (value: unknown): boolean => value !== undefined && value !== '' && value !== false;
