/** The schema rules for definitions, with upstream's errors (apiextensions-apiserver, apis/apiextensions/validation). */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '@podwright/kube-kinds';
import type { JsonSchema } from '../json-schema.ts';
import { ruleFieldPath } from '../rules/field-paths.ts';
import { listRules } from './list-rules.ts';
import { unsupportedFields } from './unsupported-fields.ts';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const OBJECT_FIELDS = ['apiVersion', 'kind', 'metadata'];

/** Where a schema occurs in a definition, which determines the rules for it. */
export type SchemaUse = {
  isRoot?: boolean;
  /** Why defaults are forbidden in this schema; unset if they are allowed. */
  forbidsDefaults?: string;
  isInMetadata?: boolean;
};

export function schemaErrors(field: string, schema: JsonSchema, use: SchemaUse = { isRoot: true }): FieldError[] {
  const { additionalProperties: more, properties = {}, items, not } = schema;
  const isClosed = more === false;
  const nested = use.isRoot ? { ...use, isRoot: false } : use;
  const within = (at: string, one: JsonSchema | undefined, how = nested) =>
    typeof one === 'object' && one !== null ? schemaErrors(`${field}.${at}`, one, how) : [];
  const each = (name: 'allOf' | 'anyOf' | 'oneOf') =>
    (schema[name] ?? []).flatMap((one, index) => within(`${name}[${index}]`, one));
  const inMetadata = 'inside additionalProperties applying to object metadata';
  return [
    ...ownErrors(field, schema, use),
    ...(more !== undefined && more !== true && Object.keys(properties).length > 0
      ? [forbiddenField(`${field}.additionalProperties`, 'additionalProperties and properties are mutual exclusive')]
      : []),
    ...(isClosed
      ? []
      : within(
          'additionalProperties',
          more as JsonSchema,
          use.isInMetadata ? { ...nested, forbidsDefaults: inMetadata } : nested,
        )),
    ...Object.entries(properties).flatMap(([name, one]) =>
      within(`properties[${name}]`, one, useOf(name, schema, use)),
    ),
    ...within('not', not),
    ...each('allOf'),
    ...each('oneOf'),
    ...each('anyOf'),
    ...within('items', items),
    ...extensionErrors(field, schema),
    ...listRules(field, schema),
    ...validationRules(field, schema),
  ];
}

function useOf(name: string, schema: JsonSchema, use: SchemaUse): SchemaUse {
  const isResource = use.isRoot === true || schema['x-kubernetes-embedded-resource'] === true;
  const nested = { ...use, isRoot: false };
  if (!isResource || !OBJECT_FIELDS.includes(name)) return nested;
  return { ...nested, isInMetadata: true, ...(use.isRoot ? { forbidsDefaults: `in top-level ${name}` } : {}) };
}

function ownErrors(
  field: string,
  schema: JsonSchema,
  { forbidsDefaults, isInMetadata = false }: SchemaUse,
): FieldError[] {
  const { type = '' } = schema;
  const isKnown = type === '' || TYPES.includes(type);
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  return [
    ...(isKnown ? [] : [notSupported(`${field}.type`, type, TYPES)]),
    ...(schema.default !== undefined && forbidsDefaults !== undefined
      ? [forbiddenField(`${field}.default`, `must not be set ${forbidsDefaults}`)]
      : []),
    ...unsupportedFields(field, schema),
    ...(isInMetadata && isEmbedded
      ? [forbiddenField(`${field}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta')]
      : []),
  ];
}

function extensionErrors(field: string, schema: JsonSchema): FieldError[] {
  const { type = '' } = schema;
  const mapType = schema['x-kubernetes-map-type'];
  const at = `${field}.x-kubernetes-map-type`;
  const detail = 'must be object if x-kubernetes-map-type is specified';
  const preserves = schema['x-kubernetes-preserve-unknown-fields'];
  return [
    ...(preserves === false
      ? [invalidValue(`${field}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')]
      : []),
    ...(mapType === undefined || type === 'object'
      ? []
      : [type === '' ? required(`${field}.type`, detail) : invalidValue(`${field}.type`, type, detail)]),
    ...(mapType === undefined || ['atomic', 'granular'].includes(mapType)
      ? []
      : [notSupported(at, mapType, ['atomic', 'granular'])]),
  ];
}

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

const hasBreaks = (text: string): boolean => text.includes('\n');

/** Checks the form of CEL rules without compiling them. */
function validationRules(field: string, schema: JsonSchema): FieldError[] {
  const rules = (schema['x-kubernetes-validations'] ?? []) as readonly RuleForm[];
  return rules.flatMap((rule, index) => {
    const at = `${field}.x-kubernetes-validations[${index}]`;
    const { messageExpression = '', reason, fieldPath = '' } = rule;
    return [
      ...textErrors(at, rule),
      ...(messageExpression !== '' && messageExpression.trim() === ''
        ? [required(`${at}.messageExpression`, 'messageExpression must be non-empty if specified')]
        : []),
      ...(reason === undefined || REASONS.includes(reason) ? [] : [notSupported(`${at}.reason`, reason, REASONS)]),
      ...(fieldPath !== '' && fieldPath.trim() === ''
        ? [invalidValue(`${at}.fieldPath`, fieldPath, 'must be non-empty if specified')]
        : []),
      ...(hasBreaks(fieldPath) ? [invalidValue(`${at}.fieldPath`, fieldPath, 'must not contain line breaks')] : []),
      ...(ruleFieldPath(fieldPath, schema) === undefined
        ? [invalidValue(`${at}.fieldPath`, fieldPath, 'must be a valid path')]
        : []),
    ];
  });
}

type RuleForm = {
  rule?: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
};

function textErrors(at: string, { rule = '', message = '' }: RuleForm): FieldError[] {
  if (rule.trim() === '') return [required(`${at}.rule`, 'rule is not specified')];
  if (message !== '' && message.trim() === '')
    return [invalidValue(`${at}.message`, message, 'must be non-empty if specified')];
  if (hasBreaks(message.trim())) return [invalidValue(`${at}.message`, message, 'must not contain line breaks')];
  if (hasBreaks(rule.trim()) && message.trim() === '')
    return [required(`${at}.message`, 'message must be specified if rule contains line breaks')];
  return [];
}
