import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import { podOptions } from '../pod-spec/pod-options.ts';
import type { Strategy } from '../strategy.ts';
import { numberAt, objectAt, valueAt, withValue } from '../values.ts';
import { defaultTemplateAt, nameWarnings, prepareTemplateAt, templateWarnings } from './pod-templates.ts';
import { validateReplicaStatus } from './replication-controllers.ts';
import { scaleOf } from './scale.ts';
import { resetStatus, retainStatus, statusOnly } from './status-fields.ts';
import {
  validateCount,
  validateImmutable,
  validateReplicaTemplate,
  validateRequiredSelector,
} from './workload-spec.ts';

const TEMPLATE = ['spec', 'template'];

function applyDefaults(object: ApiObject): ApiObject {
  const replicas = numberAt(object, 'spec', 'replicas');
  const complete = replicas === undefined ? withValue(object, ['spec', 'replicas'], 1) : object;
  return defaultTemplateAt(complete, TEMPLATE);
}

function validate(object: ApiObject, old?: ApiObject) {
  const root = new Field();
  const field = root.at('spec');
  const spec = objectAt(object, 'spec') ?? {};
  validateCount(spec, field, 'replicas');
  validateCount(spec, field, 'minReadySeconds');
  // upstream's error message for a ReplicaSet says Deployment, too
  validateRequiredSelector(spec, field, { kind: 'deployment' });
  validateReplicaTemplate(spec, field, podOptions(objectAt(old, ...TEMPLATE)));
  if (old !== undefined) validateImmutable(spec.selector, valueAt(old, 'spec', 'selector'), field.at('selector'));
  return root.errors;
}

export const REPLICA_SETS: Strategy = {
  applyDefaults,
  prepareForCreate: (object) => resetStatus(prepareTemplateAt(object, undefined, TEMPLATE), { replicas: 0 }),
  prepareForUpdate: (object, old) => retainStatus(prepareTemplateAt(object, old, TEMPLATE), old),
  validate: (object) => validate(object),
  validateUpdate: validate,
  warnings: (object, old) => [...nameWarnings(object, old), ...templateWarnings(object, old, TEMPLATE)],
  subresources: { status: { prepareForUpdate: statusOnly, validateUpdate: validateReplicaStatus } },
  hasGeneration: true,
  scale: scaleOf(),
};
