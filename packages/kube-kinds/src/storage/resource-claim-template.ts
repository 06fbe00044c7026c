import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, tooLong } from '../field-error.ts';
import { validateLabels } from '../labels.ts';
import { qualifiedNameProblems } from '../names.ts';
import { immutable, problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, objectAt, textEntriesAt } from '../values.ts';
import { withRequestDefaults } from './device-requests.ts';
import { sizeOf } from './parameters.ts';
import { validateClaimSpec } from './resource-claim.ts';

const MAX_ANNOTATION_BYTES = 256 * 1024;

const applyDefaults = (object: ApiObject): ApiObject =>
  withRequestDefaults(object, ['spec', 'spec', 'devices', 'requests']);

const validate = (object: ApiObject): FieldError[] => [
  ...validateMetadata('spec.metadata', objectAt(object, 'spec', 'metadata') ?? {}),
  ...validateClaimSpec('spec.spec', objectAt(object, 'spec', 'spec') ?? {}),
];

/** Validates a template's metadata. Only labels and annotations are allowed (ValidateTemplateObjectMeta). */
function validateMetadata(field: string, metadata: JsonObject): FieldError[] {
  const annotations = textEntriesAt(metadata, 'annotations');
  const others = Object.entries(metadata).filter(
    ([name, value]) => !['labels', 'annotations'].includes(name) && value !== null && value !== undefined,
  );
  return [
    ...annotations.flatMap(([key]) =>
      problemsAt(`${field}.annotations`, key, qualifiedNameProblems(key.toLowerCase())),
    ),
    ...(sizeOf(annotations) > MAX_ANNOTATION_BYTES ? [tooLong(`${field}.annotations`, MAX_ANNOTATION_BYTES)] : []),
    ...validateLabels(`${field}.labels`, metadata.labels),
    ...others.map(([name]) => forbiddenField(`${field}.${name}`, 'cannot be set')),
  ];
}

const validateUpdate = (object: ApiObject, old: ApiObject): FieldError[] => [
  ...validate(object),
  ...immutable('spec', object.spec, old.spec),
];

export const RESOURCE_CLAIM_TEMPLATE: Strategy = { applyDefaults, validate, validateUpdate };
