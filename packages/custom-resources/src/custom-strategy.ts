/**
 * How objects of one version of a custom kind are validated, updated, scaled and converted (apiextensions-apiserver,
 * registry/customresource).
 */

import { Patterns } from '@podwright/cel/patterns';
import {
  type ApiObject,
  type Conversion,
  type FieldError,
  invalidValue,
  isSameValue,
  type ScaleStrategy,
  type Strategy,
} from '@podwright/kube-kinds';
import { apiVersionOf, type CustomKind, type JsonObject, withDeclaredFields } from '@podwright/kube-schema';
import { scaleErrors, scaleStrategy } from './custom-scale.ts';
import type { JsonSchema } from './json-schema.ts';
import type { ObjectRules } from './rules/rule-outcome.ts';
import { embeddedErrors } from './values/embedded-objects.ts';
import { jsonPath } from './values/json-path.ts';
import { repeatedItems } from './values/unique-items.ts';
import { validateValue } from './values/validate-value.ts';

type RuleParameters = Parameters<NonNullable<Strategy['validateRules']>>;

export type CustomRules = { strategy: Strategy; conversion: Conversion };

/** A version of a custom kind, and what its strategy depends on. */
export type CustomVersion = CustomKind & {
  hasStatus: boolean;
  scale: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string } | undefined;
  /** The paths of the replica count (see `ScaleStrategy`). */
  replicasPaths: ScaleStrategy['replicasPaths'];
};

/** Errors that prevent CEL rules from being evaluated: values might have types that the rules do not expect, or be too large. */
const BLOCKING = [
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
];
const UNCHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** Returns the strategy of a custom kind. `rules`: its CEL validation rules. */
export function customStrategy(version: CustomVersion, rules?: ObjectRules): Strategy {
  const { resource, type, hasStatus, scale } = version;
  const { selectablePaths = [] } = type;
  const patterns = new Patterns();
  const schema = type.schema as JsonSchema;
  const validate = (object: ApiObject, old?: ApiObject): FieldError[] => [
    ...validateValue(object, schema, { patterns, path: '', old }),
    ...repeatedItems(object, schema, { path: '', old }),
    ...embeddedErrors(object, schema, ''),
    ...(scale === undefined ? [] : scaleErrors(object, scale)),
  ];
  const warned = new WeakMap<object, readonly string[]>();
  const withRules = async (
    evaluate: ObjectRules,
    ...[errors, object, old]: RuleParameters
  ): Promise<readonly FieldError[]> => {
    if (errors.some(({ reason }) => BLOCKING.includes(reason)))
      return [...errors, invalidValue('<nil>', null, UNCHECKED)];
    const outcome = await evaluate(object, old);
    if (outcome.warnings.length > 0) warned.set(object, outcome.warnings);
    return [...errors, ...outcome.errors];
  };
  /** Validates only the status in a status update. As upstream does, `validateRules` still evaluates the rules of the whole object. */
  const validateStatus = (object: ApiObject, old: ApiObject): FieldError[] => {
    const { status } = schema.properties ?? {};
    if (status === undefined || object.status === undefined) return [];
    const errors = validateValue(object.status, status, { patterns, path: '', old: old.status });
    return errors.map((one) => (one.field === '<nil>' ? one : { ...one, field: `status.${one.field}` }));
  };
  const validateKind = (object: ApiObject): FieldError[] =>
    object.kind === resource.kind ? [] : [invalidValue('kind', object.kind, `must be ${resource.kind}`)];
  return {
    hasGeneration: true,
    allowUnconditionalUpdate: false,
    ...(hasStatus ? {} : { countsStatus: true }),
    validate: (object) => [...validateKind(object), ...validate(object)],
    validateUpdate: (object, old) => [...validateKind(object), ...validate(object, old)],
    ...(rules === undefined
      ? {}
      : { validateRules: (...parameters: RuleParameters) => withRules(rules, ...parameters) }),
    warnings: (object) => warned.get(object) ?? [],
    selectableFields: Object.fromEntries(selectablePaths.map((path) => [path.slice(1), valueAtPath(path)])),
    ...(scale === undefined ? {} : { scale: scaleStrategy(scale, version.replicasPaths) }),
    ...(hasStatus ? { subresources: { status: statusRules(validateStatus) } } : {}),
  };
}

/** Returns the rules of a strategy for status updates, which change only the status and `metadata.managedFields`. */
const statusRules = (validate: (object: ApiObject, old: ApiObject) => FieldError[]) => ({
  prepareForUpdate: (object: ApiObject, old: ApiObject): ApiObject => {
    const { managedFields: _, ...metadata } = old.metadata;
    const { managedFields, resourceVersion } = object.metadata;
    const { status: __, ...others } = old;
    return {
      ...others,
      metadata: { ...metadata, resourceVersion, ...(managedFields === undefined ? {} : { managedFields }) },
      ...(object.status === undefined ? {} : { status: object.status }),
    } as ApiObject;
  },
  validateUpdate: validate,
  resetFields: [['spec'], ['metadata']],
});

/** Returns a function that reads a selectable field as text; '' if it is absent. */
function valueAtPath(path: string): (object: ApiObject) => string {
  const find = jsonPath(path) ?? (() => []);
  return (object) => {
    const [value] = find(object);
    return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
  };
}

/**
 * Converts between a version and the storage version, which differ only in their names, schemas and defaults. Fields not declared in the
 * storage version are validated and tracked, but not stored.
 */
export function customConversion(
  own: CustomKind,
  stored: CustomKind,
  decode: (object: JsonObject, kind: CustomKind) => ApiObject,
): Conversion {
  const storedSchema = { ...stored.type.schema, 'x-kubernetes-embedded-resource': true };
  const convert = (object: ApiObject, to: CustomKind): ApiObject => {
    const apiVersion = apiVersionOf(to.resource);
    const converted = decode({ ...object, apiVersion }, to);
    return object.apiVersion === apiVersion && isSameValue(converted, object) ? object : converted;
  };
  return {
    toStored: (object) => (own === stored ? object : { ...object, apiVersion: apiVersionOf(stored.resource) }),
    fromStored: (object) => convert(object, own),
    ...(own === stored ? {} : { storable: (object) => withDeclaredFields(object, storedSchema) as ApiObject }),
  };
}
