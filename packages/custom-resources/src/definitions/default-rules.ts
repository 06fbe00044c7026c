/** Defaults must be valid for their schemas and must not contain undeclared fields (apiextensions-apiserver, defaulting). */

import { Patterns } from '@podwright/cel/patterns';
import { type FieldError, invalidValue, isSameValue } from '@podwright/kube-kinds';
import { withDeclaredFields } from '@podwright/kube-schema';
import type { JsonSchema } from '../json-schema.ts';
import { repeatedItems } from '../values/unique-items.ts';
import { validateValue } from '../values/validate-value.ts';

export function defaultErrors(field: string, schema: JsonSchema, patterns = new Patterns()): FieldError[] {
  const { items, properties = {}, additionalProperties: more } = schema;
  const within = (at: string, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? defaultErrors(`${field}.${at}`, one, patterns)
      : [];
  return [
    ...(schema.default === undefined ? [] : ownErrors(`${field}.default`, schema, patterns)),
    ...within('items', items),
    ...Object.entries(properties).flatMap(([name, one]) => within(`properties[${name}]`, one)),
    ...within('additionalProperties', more),
  ];
}

function ownErrors(field: string, schema: JsonSchema, patterns: Patterns): FieldError[] {
  const { default: value } = schema;
  if (value === null && schema.nullable !== true) return [invalidValue(field, null, 'must be nullable')];
  if (!isSameValue(withDeclaredFields(value, schema), value))
    return [invalidValue(field, value, 'must not have unknown fields')];
  const errors = [
    ...validateValue(value, schema, { patterns, path: '' }),
    ...repeatedItems(value, schema, { path: '' }),
  ];
  return errors.map((error) => ({ ...error, field: error.field === '' ? field : `${field}.${error.field}` }));
}
