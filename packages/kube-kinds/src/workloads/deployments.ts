import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import { podOptions } from '../pod-spec/pod-options.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, numberAt, objectAt, textAt, valueAt } from '../values.ts';
import { defaultTemplateAt, nameWarnings, prepareTemplateAt, templateWarnings } from './pod-templates.ts';
import { scaleOf } from './scale.ts';
import {
  resetStatus,
  retainStatus,
  statusOnly,
  validateAtMost,
  validateCollisions,
  validateCounts,
} from './status-fields.ts';
import {
  countOrPercent,
  validateAtMost100Percent,
  validateCount,
  validateCountOrPercent,
  validateImmutable,
  validateReplicaTemplate,
  validateRequiredSelector,
} from './workload-spec.ts';

const TEMPLATE = ['spec', 'template'];
const HISTORY_LIMIT = 10;
const PROGRESS_SECONDS = 600;
const COUNTS = [
  ...['observedGeneration', 'replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'],
  ...['unavailableReplicas', 'terminatingReplicas', 'collisionCount'],
];

function applyDefaults(object: ApiObject): ApiObject {
  const spec = {
    replicas: 1,
    revisionHistoryLimit: HISTORY_LIMIT,
    progressDeadlineSeconds: PROGRESS_SECONDS,
    ...objectAt(object, 'spec'),
  };
  const strategy = defaultStrategy(objectAt(spec, 'strategy') ?? {});
  return defaultTemplateAt({ ...object, spec: { ...spec, strategy } }, TEMPLATE);
}

function defaultStrategy(strategy: JsonObject): JsonObject {
  const type = textAt(strategy, 'type') || 'RollingUpdate';
  if (type !== 'RollingUpdate') return strategy;
  const rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%', ...objectAt(strategy, 'rollingUpdate') };
  return { ...strategy, type, rollingUpdate };
}

function validate(object: ApiObject, old?: ApiObject) {
  const root = new Field();
  const field = root.at('spec');
  const spec = objectAt(object, 'spec') ?? {};
  validateCount(spec, field, 'replicas');
  validateRequiredSelector(spec, field, { kind: 'deployment' });
  validateReplicaTemplate(spec, field, podOptions(objectAt(old, ...TEMPLATE)));
  validateStrategy(objectAt(spec, 'strategy') ?? {}, field.at('strategy'));
  for (const name of ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'])
    validateCount(spec, field, name);
  const deadline = numberAt(spec, 'progressDeadlineSeconds');
  if (deadline !== undefined && deadline <= (numberAt(spec, 'minReadySeconds') ?? 0))
    field.at('progressDeadlineSeconds').invalid(deadline, 'must be greater than minReadySeconds');
  if (old !== undefined) validateImmutable(spec.selector, valueAt(old, 'spec', 'selector'), field.at('selector'));
  return root.errors;
}

function validateStrategy(strategy: JsonObject, field: Field): void {
  const type = textAt(strategy, 'type');
  const rollingUpdate = objectAt(strategy, 'rollingUpdate');
  const at = field.at('rollingUpdate');
  if (type === 'Recreate') {
    if (rollingUpdate !== undefined) at.forbidden("may not be specified when strategy `type` is 'Recreate'");
  } else if (type !== 'RollingUpdate') {
    // upstream's error prints the value as a Go struct
    const shown = { Type: type, RollingUpdate: rollingUpdate ?? null };
    field.notSupported(shown, ['Recreate', 'RollingUpdate']);
  } else if (rollingUpdate === undefined) at.required('this should be defaulted and never be nil');
  else validateRollingUpdate(rollingUpdate, at);
}

function validateRollingUpdate({ maxUnavailable, maxSurge }: JsonObject, field: Field): void {
  validateCountOrPercent(maxUnavailable, field.at('maxUnavailable'));
  validateCountOrPercent(maxSurge, field.at('maxSurge'));
  if (countOrPercent(maxUnavailable) === 0 && countOrPercent(maxSurge) === 0)
    field.at('maxUnavailable').invalid(maxUnavailable, 'may not be 0 when `maxSurge` is 0');
  validateAtMost100Percent(maxUnavailable, field.at('maxUnavailable'));
}

function validateStatus(object: ApiObject, old: ApiObject) {
  const root = new Field();
  const field = root.at('status');
  const status = objectAt(object, 'status');
  validateCounts(status, COUNTS, field);
  const words = 'cannot be greater than status.replicas';
  validateAtMost(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], {
    limit: 'replicas',
    words,
    field,
  });
  const limit = 'readyReplicas';
  validateAtMost(status, ['availableReplicas'], { limit, words: `cannot be greater than ${limit}`, field });
  validateCollisions(object, old, field);
  return root.errors;
}

/** Returns the new object with the old labels, which a status update cannot change. */
function statusWithLabels(object: ApiObject, old: ApiObject): ApiObject {
  const { labels: _, ...metadata } = object.metadata;
  const { labels } = old.metadata;
  return statusOnly({ ...object, metadata: labels === undefined ? metadata : { ...metadata, labels } }, old);
}

export const DEPLOYMENTS: Strategy = {
  applyDefaults,
  prepareForCreate: (object) => resetStatus(prepareTemplateAt(object, undefined, TEMPLATE)),
  prepareForUpdate: (object, old) => retainStatus(prepareTemplateAt(object, old, TEMPLATE), old),
  validate: (object) => validate(object),
  validateUpdate: validate,
  warnings: (object, old) => [...nameWarnings(object, old), ...templateWarnings(object, old, TEMPLATE)],
  subresources: {
    status: {
      prepareForUpdate: statusWithLabels,
      validateUpdate: validateStatus,
      resetFields: [['spec'], ['metadata', 'labels']],
    },
  },
  hasGeneration: true,
  countsAnnotations: true,
  scale: scaleOf(),
};
