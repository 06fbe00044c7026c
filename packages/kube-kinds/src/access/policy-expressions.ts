/** The parts of admission policies that contain CEL expressions. The expressions are not compiled. */
import { duplicate, type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { qualifiedNameProblems } from '../names.ts';
import { repeats } from '../repeats.ts';
import { problemsAt } from '../rules.ts';
import { type JsonObject, objectAt, objectsAt, textAt, valueAt } from '../values.ts';

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const MAX_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;
/** Reserved words in CEL. */
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

export const validateVariables = (field: string, spec: JsonObject): FieldError[] =>
  objectsAt(spec, 'variables').flatMap((variable, index) => {
    const at = `${field}[${index}]`;
    const name = textAt(variable, 'name');
    const isIdentifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !RESERVED.has(name);
    const wrongName =
      name.trim() === ''
        ? [required(`${at}.name`, 'name is not specified')]
        : isIdentifier
          ? []
          : [invalidValue(`${at}.name`, name, 'must be a valid CEL identifier')];
    const isEmpty = textAt(variable, 'expression').trim() === '';
    return [...wrongName, ...(isEmpty ? [required(`${at}.expression`, 'expression is not specified')] : [])];
  });

export const validateValidations = (field: string, spec: JsonObject): FieldError[] =>
  objectsAt(spec, 'validations').flatMap((validation, index) => {
    const at = `${field}[${index}]`;
    const isEmpty = textAt(validation, 'expression').trim() === '';
    const reason = valueAt(validation, 'reason');
    const wrongReason = reason !== undefined && !REASONS.includes(String(reason));
    const message = textAt(validation, 'message');
    const hasBreaks = /[\n\r]/.test(message.trim());
    return [
      ...(isEmpty ? [required(`${at}.expression`, 'expression is not specified')] : []),
      ...validateBlank(`${at}.messageExpression`, textAt(validation, 'messageExpression')),
      ...validateBlank(`${at}.message`, message),
      ...(hasBreaks ? [invalidValue(`${at}.message`, message, 'must not contain line breaks')] : []),
      ...(wrongReason ? [notSupported(`${at}.reason`, reason, REASONS)] : []),
    ];
  });

const validateBlank = (field: string, text: string): FieldError[] =>
  text !== '' && text.trim() === '' ? [invalidValue(field, text, 'must be non-empty if specified')] : [];

/** Validates the audit annotations. The policy's name is the prefix of their full keys. */
export function validateAuditAnnotations(field: string, spec: JsonObject, policy: string): FieldError[] {
  const annotations = objectsAt(spec, 'auditAnnotations');
  const keys = annotations.map((annotation) => textAt(annotation, 'key'));
  const isRepeated = repeats(keys);
  const tooMany = invalidValue(field, annotations, `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`);
  return [
    ...(annotations.length > MAX_ANNOTATIONS ? [tooMany] : []),
    ...annotations.flatMap((annotation, index) => {
      const at = `${field}[${index}]`;
      const name = `${policy}/${keys[index]}`;
      return [
        ...(policy === ''
          ? [invalidValue(`${at}.key`, keys[index], 'requires metadata.name be non-empty')]
          : problemsAt(`${at}.key`, name, qualifiedNameProblems(name))),
        ...validateValueExpression(`${at}.valueExpression`, textAt(annotation, 'valueExpression').trim()),
        ...(isRepeated[index] ? [duplicate(`${at}.key`, keys[index])] : []),
      ];
    }),
  ];
}

function validateValueExpression(field: string, expression: string): FieldError[] {
  if (expression === '') return [required(field, 'valueExpression is not specified')];
  const isLong = Buffer.byteLength(expression) > MAX_VALUE_EXPRESSION_BYTES;
  return isLong ? [required(field, `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`)] : [];
}

const PATCH_TYPES = ['ApplyConfiguration', 'JSONPatch'];
const PATCH_FIELDS: Readonly<Record<string, readonly [own: string, other: string]>> = {
  JSONPatch: ['jsonPatch', 'applyConfiguration'],
  ApplyConfiguration: ['applyConfiguration', 'jsonPatch'],
};

export function validateMutations(field: string, spec: JsonObject): FieldError[] {
  const mutations = objectsAt(spec, 'mutations');
  if (mutations.length === 0) return [required(field, 'mutations must contain at least one item')];
  return mutations.flatMap((mutation, index) => validateMutation(`${field}[${index}]`, mutation));
}

function validateMutation(field: string, mutation: JsonObject): FieldError[] {
  const type = textAt(mutation, 'patchType');
  if (type === '') return [required(`${field}.patchType`)];
  if (!PATCH_TYPES.includes(type)) return [notSupported(`${field}.patchType`, type, PATCH_TYPES)];
  const [own, other] = PATCH_FIELDS[type]!;
  const patch = objectAt(mutation, own);
  const isEmpty = patch !== undefined && textAt(patch, 'expression').trim() === '';
  const notOther = `must not be specified when patchType is ${type}`;
  return [
    ...(patch === undefined ? [required(`${field}.${own}`, `must be specified when patchType is ${type}`)] : []),
    ...(isEmpty ? [required(`${field}.${own}.expression`)] : []),
    ...(objectAt(mutation, other) === undefined ? [] : [invalidValue(`${field}.${other}`, `{${other}}`, notOther)]),
  ];
}
