/** The strategy for CustomResourceDefinitions. Does not validate their schemas. */
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, required } from '../field-error.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { immutable } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { booleanAt, type JsonObject, objectAt, objectsAt, textAt, textsAt, withValue } from '../values.ts';
import { validateApproval } from './definition-approval.ts';
import { hasKnownReviewVersion, validateConversion, validateEnum } from './definition-conversion.ts';
import { internalForm } from './definition-form.ts';
import { unknownFormats } from './definition-formats.ts';
import { requireNames, validateNames } from './definition-names.ts';
import { validateStatus, validateStoredVersions, withStoredVersion } from './definition-status.ts';
import { validateParts, validateVersionList, validateVersions } from './definition-versions.ts';
import { withServicePort } from './webhook-client.ts';

const CLIENT = ['spec', 'conversion', 'webhook', 'clientConfig'];

function applyDefaults(object: ApiObject): ApiObject {
  const kind = textAt(object, 'spec', 'names', 'kind');
  const names = objectAt(object, 'spec', 'names') ?? {};
  const singular = textAt(names, 'singular') || kind.toLowerCase();
  const listKind = textAt(names, 'listKind') || (kind === '' ? '' : `${kind}List`);
  const filled = { ...names, ...(singular && { singular }), ...(listKind && { listKind }) };
  const spec = objectAt(object, 'spec') ?? {};
  const conversion = spec.conversion ?? { strategy: 'None' };
  const result: ApiObject = { ...object, spec: { ...spec, names: filled, conversion } };
  const client = objectAt(result, ...CLIENT);
  const withPort = client === undefined ? result : withValue(result, CLIENT, withServicePort(client));
  return textsAt(withPort, 'status', 'storedVersions').length > 0 ? withPort : withStoredVersion(withPort);
}

const prepareForCreate = (object: ApiObject): ApiObject =>
  withStoredVersion({
    ...object,
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: [] },
  });

const prepareForUpdate = (object: ApiObject, old: ApiObject): ApiObject =>
  withStoredVersion({ ...object, status: old.status });

function validate(object: ApiObject): FieldError[] {
  const spec = objectAt(object, 'spec') ?? {};
  const name = object.metadata.name ?? '';
  const isNamed = name === `${textAt(spec, 'names', 'plural')}.${textAt(spec, 'group')}`;
  const mustBe = invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group');
  return [
    ...(isNamed ? [] : [mustBe]),
    ...validateSpec('spec', spec, { requireSchemas: true, requireKnown: true }),
    ...validateStatus(object),
    ...validateStoredVersions('status.storedVersions', object),
    ...validateApproval(object, undefined),
    ...validatePreserve('spec.preserveUnknownFields', object, undefined),
  ];
}

type SpecRules = { requireSchemas: boolean; requireKnown: boolean };

/** Validates the spec. Field paths in errors refer to the internal form. */
function validateSpec(field: string, external: JsonObject, { requireSchemas, requireKnown }: SpecRules): FieldError[] {
  const spec = internalForm(external);
  const conversion = objectAt(spec, 'conversion');
  const preserves = booleanAt(spec, 'preserveUnknownFields');
  const strategy = textAt(conversion, 'strategy');
  const isConverted = conversion !== undefined && strategy !== 'None' && preserves;
  const mustBeNone = 'must be None if spec.preserveUnknownFields is true';
  return [
    ...validateGroup(`${field}.group`, textAt(spec, 'group')),
    ...validateEnum(`${field}.scope`, textAt(spec, 'scope'), ['Cluster', 'Namespaced']),
    ...validateSchemas(`${field}.versions`, spec, { requireSchemas, preserves }),
    ...validateVersions(`${field}.versions`, spec),
    ...validateVersionList(`${field}.versions`, spec),
    ...requireNames(`${field}.names`, objectAt(spec, 'names')),
    ...validateNames(`${field}.names`, objectAt(spec, 'names')),
    ...validateParts(field, spec),
    ...(isConverted ? [invalidValue(`${field}.conversion.strategy`, strategy, mustBeNone)] : []),
    ...validateConversion(`${field}.conversion`, conversion, { requireKnown }),
  ];
}

function validateGroup(field: string, group: string): FieldError[] {
  if (group === '') return [required(field)];
  const problems = dns1123SubdomainProblems(group);
  if (problems.length > 0) return [invalidValue(field, group, problems.join(','))];
  return group.includes('.') ? [] : [invalidValue(field, group, 'should be a domain with at least one dot')];
}

/**
 * Requires schemas: in every version if `requireSchemas` is true; otherwise only in served versions, and only if unknown fields are pruned.
 */
function validateSchemas(
  field: string,
  spec: JsonObject,
  { requireSchemas, preserves }: { requireSchemas: boolean; preserves: boolean },
): FieldError[] {
  if (objectAt(spec, 'validation', 'openAPIV3Schema') !== undefined) return [];
  const detail = requireSchemas ? '' : 'because otherwise all fields are pruned';
  return objectsAt(spec, 'versions').flatMap((version, index) => {
    const isNeeded = requireSchemas || (!preserves && booleanAt(version, 'served'));
    const hasSchema = objectAt(version, 'schema', 'openAPIV3Schema') !== undefined;
    return isNeeded && !hasSchema ? [required(`${field}[${index}].schema.openAPIV3Schema`, detail)] : [];
  });
}

function validatePreserve(field: string, object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const path = ['spec', 'preserveUnknownFields'];
  if (booleanAt(old, ...path) || !booleanAt(object, ...path)) return [];
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalidValue(field, true, detail)];
}

function validateUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const [spec, oldSpec] = [objectAt(object, 'spec') ?? {}, objectAt(old, 'spec') ?? {}];
  const unchanged = (...path: string[]) =>
    immutable(['spec', ...path].join('.'), textAt(spec, ...path), textAt(oldSpec, ...path));
  const reviews = textsAt(oldSpec, 'conversion', 'webhook', 'conversionReviewVersions');
  return [
    ...validateSpec('spec', spec, {
      requireSchemas: hasSchemas(oldSpec),
      requireKnown: reviews.length === 0 || hasKnownReviewVersion(reviews),
    }),
    ...(isEstablished(old) ? [...unchanged('scope'), ...unchanged('names', 'kind')] : []),
    ...unchanged('group'),
    ...unchanged('names', 'plural'),
    ...validateStatus(object),
    ...validateStoredVersions('status.storedVersions', object),
    ...validateApproval(object, old),
    ...validatePreserve('spec.preserveUnknownFields', object, old),
  ];
}

const hasSchemas = (spec: JsonObject): boolean =>
  objectsAt(spec, 'versions').every((one) => objectAt(one, 'schema', 'openAPIV3Schema') !== undefined);

const isEstablished = (object: ApiObject): boolean =>
  objectsAt(object, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type') === 'Established' && textAt(condition, 'status') === 'True',
  );

function warnings(object: ApiObject, old: ApiObject | undefined): string[] {
  const before = new Set(old === undefined ? [] : unknownFormats(old));
  const added = unknownFormats(object).filter((format) => !before.has(format));
  return added.map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

export const CUSTOM_RESOURCE_DEFINITION: Strategy = {
  applyDefaults,
  prepareForCreate,
  prepareForUpdate,
  validate,
  validateUpdate,
  warnings,
  subresources: {
    // as in upstream, status updates also change metadata
    status: { prepareForUpdate: (object, old) => ({ ...object, spec: old.spec }), validateUpdate: validateStatus },
  },
  allowUnconditionalUpdate: false,
  hasGeneration: true,
};
