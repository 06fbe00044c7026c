import { isQuantity, quantityMilliValue } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { hasInvalidSelectorValues, validateLabelSelector } from '../labels.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import { withStatusAndMetadataOf } from '../status-update.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, objectAt, textAt, textsAt, valueAt } from '../values.ts';
import { VOLUME_MODES, validateAccessModes } from './access-modes.ts';
import { type DataSourceOptions, validateDataSources, withDataSources } from './claim-data-source.ts';
import { validateClaimStatusUpdate } from './claim-status.ts';
import { validateClaimChange } from './claim-update.ts';
import { withRoundedQuantities } from './persistent-volume-defaults.ts';
import { positiveQuantity } from './persistent-volume-spec.ts';

const QUANTITIES = [
  ['spec', 'resources', 'limits'],
  ['spec', 'resources', 'requests'],
  ['status', 'capacity'],
  ['status', 'allocatedResources'],
];

function applyDefaults(object: ApiObject): ApiObject {
  const phase = textAt(object, 'status', 'phase') || 'Pending';
  const spec = objectAt(object, 'spec') ?? {};
  const status = { ...objectAt(object, 'status'), phase };
  const filled = { ...object, spec: { ...spec, volumeMode: spec.volumeMode ?? 'Filesystem' }, status };
  return QUANTITIES.reduce((claim, path) => withRoundedQuantities(claim, path), filled);
}

const prepareForCreate = (object: ApiObject): ApiObject => ({
  ...withDataSources(object, undefined),
  status: { phase: 'Pending' },
});

const prepareForUpdate = (object: ApiObject, old: ApiObject): ApiObject => ({
  ...withDataSources(object, old),
  status: old.status,
});

type ClaimOptions = DataSourceOptions & { allowInvalidValues?: boolean };

function validate(object: ApiObject, options: ClaimOptions = {}): FieldError[] {
  const spec = objectAt(object, 'spec') ?? {};
  const modes = textsAt(spec, 'accessModes');
  const mode = valueAt(spec, 'volumeMode');
  const wrongMode = mode !== undefined && !VOLUME_MODES.includes(String(mode));
  return [
    ...(modes.length === 0 ? [required('spec.accessModes', 'at least 1 access mode is required')] : []),
    ...validateLabelSelector('spec.selector', spec.selector, options),
    ...validateAccessModes('spec.accessModes', modes),
    ...validateRequest('spec.resources[storage]', valueAt(spec, 'resources', 'requests', 'storage')),
    ...validateClass('spec.storageClassName', spec),
    ...(wrongMode ? [notSupported('spec.volumeMode', mode, VOLUME_MODES)] : []),
    ...validateDataSources('spec', spec, options),
    ...validateClass('spec.volumeAttributesClassName', spec),
  ];
}

function validateRequest(field: string, quantity: unknown): FieldError[] {
  if (typeof quantity !== 'string') return [required(field)];
  const notPositive = positiveQuantity(field, quantity);
  if (notPositive.length > 0 || isWhole(quantity)) return notPositive;
  return [invalidValue(field, quantity, 'must be an integer')];
}

const isWhole = (quantity: string): boolean => quantityMilliValue(quantity) % 1000n === 0n;

/** Validates the claim's storage class name or volume attributes class name; '' means no class. */
function validateClass(field: string, spec: JsonObject): FieldError[] {
  const name = textAt(spec, field.slice('spec.'.length));
  return name === '' ? [] : problemsAt(field, name, dns1123SubdomainProblems(name));
}

const validateUpdate = (object: ApiObject, old: ApiObject): FieldError[] => [
  ...validate(object, optionsFor(old)),
  ...validateClaimChange(object, withDataSources(old, old)),
];

const optionsFor = (old: ApiObject): ClaimOptions => ({
  allowInvalidGroup: ['dataSource', 'dataSourceRef'].some(
    (name) => valueAt(old, 'spec', name, 'apiGroup') !== undefined,
  ),
  allowInvalidValues: hasInvalidSelectorValues(valueAt(old, 'spec', 'selector')),
});

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

function warnings(object: ApiObject): string[] {
  const field = `metadata.annotations[${CLASS_ANNOTATION}]`;
  const hasAnnotation = valueAt(object.metadata, 'annotations', CLASS_ANNOTATION) !== undefined;
  const fractions = ['requests', 'limits'].flatMap((kind) => {
    const quantity = textAt(object, 'spec', 'resources', kind, 'storage');
    if (!isQuantity(quantity) || isWhole(quantity)) return [];
    const value = JSON.stringify(quantity);
    return [`spec.resources.${kind}[storage]: fractional byte value ${value} is invalid, must be an integer`];
  });
  const deprecated = `${field}: deprecated since v1.8; use "storageClassName" attribute instead`;
  return [...(hasAnnotation ? [deprecated] : []), ...fractions];
}

export const PERSISTENT_VOLUME_CLAIM: Strategy = {
  applyDefaults,
  prepareForCreate,
  prepareForUpdate,
  validate: (object) => validate(object),
  validateUpdate,
  warnings,
  subresources: {
    status: { prepareForUpdate: withStatusAndMetadataOf, validateUpdate: validateClaimStatusUpdate },
  },
  selectableFields: { name: ({ metadata }) => metadata.name ?? '' },
};
