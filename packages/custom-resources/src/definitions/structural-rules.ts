/** Checks that schemas are structural: every field has a type outside of value validation (apiextensions-apiserver, apiserver/schema). */

import { LinearPattern, PatternError } from '@podwright/cel/patterns';
import { type FieldError, forbiddenField, invalidValue, isSameValue, required } from '@podwright/kube-kinds';
import type { JsonSchema } from '../json-schema.ts';

type Level = 'root' | 'item' | 'field';

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];
const NO_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/** Returns an error for each reason why a schema is not structural, sorted by text, as upstream does. */
export function structuralErrors(field: string, schema: JsonSchema): FieldError[] {
  const errors = invariants(field, schema, 'root');
  const text = (error: FieldError) => `${error.field}: ${error.message}`;
  return errors.sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

function invariants(field: string, schema: JsonSchema, level: Level): FieldError[] {
  const { type = '', items, properties = {}, additionalProperties: more } = schema;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const of = (at: string, one: unknown, below: Level) =>
    typeof one === 'object' && one !== null && !Array.isArray(one) ? invariants(`${field}.${at}`, one, below) : [];
  return [
    ...(type === 'array' && items === undefined ? [required(`${field}.items`, 'must be specified')] : []),
    ...of('items', items, 'item'),
    ...Object.entries(properties).flatMap(([name, one]) => of(`properties[${name}]`, one, 'field')),
    ...(more !== undefined && level === 'root'
      ? [forbiddenField(`${field}.additionalProperties`, 'must not be used at the root')]
      : []),
    ...of('additionalProperties', more, 'field'),
    ...extensions(field, schema),
    ...valueRules(field, schema),
    ...typeRules(field, schema, level),
    ...(level === 'root' && type !== '' && type !== 'object'
      ? [invalidValue(`${field}.type`, type, 'must be object at the root')]
      : []),
    ...(level === 'root' || isEmbedded ? objectFieldRules(field, schema, level) : []),
  ];
}

function extensions(field: string, schema: JsonSchema): FieldError[] {
  if (schema['x-kubernetes-int-or-string'] !== true) return [];
  const names = ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const;
  return names
    .filter((name) => schema[name] === true)
    .map((name) => invalidValue(`${field}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'));
}

function typeRules(field: string, schema: JsonSchema, level: Level): FieldError[] {
  const { type = '', additionalProperties: more, properties = {} } = schema;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['x-kubernetes-embedded-resource'] !== true) {
    const needsType = type === '' && !preserves && schema['x-kubernetes-int-or-string'] !== true;
    return needsType ? [required(`${field}.type`, NO_TYPE[level])] : [];
  }
  const mustBe = 'must be object if x-kubernetes-embedded-resource is true';
  const wrong = type === '' ? required(`${field}.type`, mustBe) : invalidValue(`${field}.type`, type, mustBe);
  const used = 'must not be used if x-kubernetes-embedded-resource is set';
  const empty =
    'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
  return [
    ...(type === 'object' ? [] : [wrong]),
    ...(more === undefined ? [] : [forbiddenField(`${field}.additionalProperties`, used)]),
    ...(preserves || Object.keys(properties).length > 0 ? [] : [required(`${field}.properties`, empty)]),
  ];
}

/** Rejects schemas that redefine `kind`, `apiVersion` or `metadata`. */
function objectFieldRules(field: string, { properties = {} }: JsonSchema, level: Level): FieldError[] {
  const texts = ['kind', 'apiVersion'].flatMap((name) => {
    const property = properties[name];
    const isText = property === undefined || property.type === 'string';
    return isText ? [] : [invalidValue(`${field}.properties[${name}].type`, property.type ?? '', 'must be string')];
  });
  const { metadata } = properties;
  if (metadata === undefined) return texts;
  const at = `${field}.properties[metadata]`;
  const notObject =
    metadata.type === 'object' ? [] : [invalidValue(`${at}.type`, metadata.type ?? '', 'must be object')];
  const { type: _, default: __, properties: own = {}, ...rest } = metadata;
  const others = Object.keys(own).filter((name) => name !== 'name' && name !== 'generateName');
  const isPlain = others.length === 0 && Object.keys(rest).length === 0;
  const only = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  return [...texts, ...notObject, ...(level !== 'root' || isPlain ? [] : [forbiddenField(at, only)])];
}

function valueRules(field: string, schema: JsonSchema): FieldError[] {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern = '' } = schema;
  const isIntOrString = isSameValue(anyOf, INT_OR_STRING);
  const nested = (at: string, one: JsonSchema, skip = false) => nestedRules(`${field}.${at}`, one, skip);
  return [
    ...(isIntOrString ? [] : anyOf.flatMap((one, index) => nested(`anyOf[${index}]`, one))),
    ...allOf.flatMap((one, index) =>
      nested(`allOf[${index}]`, one, index === 0 && isSameValue(one.anyOf, INT_OR_STRING)),
    ),
    ...oneOf.flatMap((one, index) => nested(`oneOf[${index}]`, one)),
    ...(not === undefined ? [] : nested('not', not)),
    ...patternErrors(`${field}.pattern`, pattern),
  ];
}

function patternErrors(field: string, pattern: string): FieldError[] {
  try {
    if (pattern !== '') new LinearPattern(pattern);
    return [];
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return [invalidValue(field, pattern, `must be a valid regular expression, but isn't: ${error.message}`)];
  }
}

/** The fields forbidden in schemas within `anyOf`, `allOf`, `oneOf` and `not`, and what they must be instead. */
const FORBIDDEN: readonly (readonly [string, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['externalDocs', 'must be undefined to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function nestedRules(field: string, schema: JsonSchema, skipsAnyOf: boolean): FieldError[] {
  const all = schema as Readonly<Record<string, unknown>>;
  const { items, properties = {} } = schema;
  return [
    ...valueRules(field, skipsAnyOf ? { ...schema, anyOf: [] } : schema),
    ...(typeof items === 'object' ? nestedRules(`${field}.items`, items, false) : []),
    ...Object.entries(properties).flatMap(([name, one]) => nestedRules(`${field}.properties[${name}]`, one, false)),
    ...FORBIDDEN.filter(([name]) => all[name] !== undefined && all[name] !== '' && all[name] !== false).map(
      ([name, detail]) => forbiddenField(`${field}.${name}`, detail),
    ),
    ...(Object.hasOwn(properties, 'metadata')
      ? [forbiddenField(`${field}.properties[metadata]`, 'must not be specified in a nested context')]
      : []),
  ];
}
