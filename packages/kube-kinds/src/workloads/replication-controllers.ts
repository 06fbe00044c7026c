import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import { podOptions } from '../pod-spec/pod-options.ts';
import { validatePodTemplate } from '../pod-spec/pod-spec.ts';
import type { Strategy } from '../strategy.ts';
import { numberAt, objectAt, textEntriesAt, valueAt, withValue } from '../values.ts';
import { defaultTemplateAt, nameWarnings, prepareTemplateAt, templateWarnings } from './pod-templates.ts';
import { scaleOf } from './scale.ts';
import { resetStatus, retainStatus, statusOnly, validateAtMost, validateCounts } from './status-fields.ts';
import { validateCount, validateEndlessPods, validatePlainSelector } from './workload-spec.ts';

const TEMPLATE = ['spec', 'template'];
const COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
  'terminatingReplicas',
];

/** Sets the defaults. The selector and the controller's own labels default to its template's labels. */
function applyDefaults(object: ApiObject): ApiObject {
  const labels = objectAt(object, ...TEMPLATE, 'metadata', 'labels');
  let complete = object;
  if (labels !== undefined && textEntriesAt(object, 'spec', 'selector').length === 0)
    complete = withValue(complete, ['spec', 'selector'], labels);
  if (labels !== undefined && textEntriesAt(object, 'metadata', 'labels').length === 0)
    complete = withValue(complete, ['metadata', 'labels'], labels);
  if (numberAt(object, 'spec', 'replicas') === undefined) complete = withValue(complete, ['spec', 'replicas'], 1);
  return defaultTemplateAt(complete, TEMPLATE);
}

function validate(object: ApiObject, old?: ApiObject) {
  const root = new Field();
  const field = root.at('spec');
  const spec = objectAt(object, 'spec') ?? {};
  const template = objectAt(spec, 'template');
  validateCount(spec, field, 'minReadySeconds');
  const hasSelector = textEntriesAt(spec, 'selector').length > 0;
  if (!hasSelector) field.at('selector').required();
  if (valueAt(spec, 'replicas') === undefined) field.at('replicas').required();
  validateCount(spec, field, 'replicas');
  if (template === undefined) field.at('template').required();
  else {
    if (hasSelector) validatePlainSelector(spec, field);
    validatePodTemplate(template, field.at('template'), podOptions(objectAt(old, ...TEMPLATE)));
    validateEndlessPods(spec, field, 'ReplicationController');
  }
  return root.errors;
}

/** Validates the status of a ReplicationController or ReplicaSet. Only a ReplicaSet's status has `terminatingReplicas`. */
export function validateReplicaStatus(object: ApiObject) {
  const root = new Field();
  const field = root.at('status');
  const status = objectAt(object, 'status');
  validateCounts(status, COUNTS, field);
  const words = 'cannot be greater than status.replicas';
  validateAtMost(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], {
    limit: 'replicas',
    words,
    field,
  });
  const limit = 'readyReplicas';
  validateAtMost(status, ['availableReplicas'], { limit, words: `cannot be greater than ${limit}`, field });
  return root.errors;
}

export const REPLICATION_CONTROLLERS: Strategy = {
  applyDefaults,
  prepareForCreate: (object) => resetStatus(prepareTemplateAt(object, undefined, TEMPLATE), { replicas: 0 }),
  prepareForUpdate: (object, old) => retainStatus(prepareTemplateAt(object, old, TEMPLATE), old),
  validate: (object) => validate(object),
  validateUpdate: validate,
  warnings: (object, old) => [...nameWarnings(object, old), ...templateWarnings(object, old, TEMPLATE)],
  subresources: { status: { prepareForUpdate: statusOnly, validateUpdate: validateReplicaStatus } },
  selectableFields: { 'status.replicas': (object) => String(numberAt(object, 'status', 'replicas') ?? 0) },
  hasGeneration: true,
  scale: scaleOf({ isPlainSelector: true, versions: ['v1'] }),
  defaultDeletion: 'orphan',
};
