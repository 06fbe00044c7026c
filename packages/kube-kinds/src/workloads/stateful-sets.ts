import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import { nameIsDnsLabel } from '../names.ts';
import { claimWarnings } from '../pod-spec/claim-spec.ts';
import { defaultClaim } from '../pod-spec/default-volume.ts';
import { podOptions } from '../pod-spec/pod-options.ts';
import type { Strategy } from '../strategy.ts';
import {
  isSameValue,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  valueAt,
  withItems,
  withValue,
} from '../values.ts';
import { defaultTemplateAt, prepareTemplateAt, templateWarnings } from './pod-templates.ts';
import { scaleOf } from './scale.ts';
import { validateStatefulSetSpec } from './stateful-set-spec.ts';
import {
  resetStatus,
  retainStatus,
  statusOnly,
  validateAtMost,
  validateCollisions,
  validateCounts,
} from './status-fields.ts';

const TEMPLATE = ['spec', 'template'];
const CLAIMS = ['spec', 'volumeClaimTemplates'];
const HISTORY_LIMIT = 10;
const COUNTS = [
  ...['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
  ...['observedGeneration', 'collisionCount'],
];
const MUTABLE = [
  ...['replicas', 'template', 'updateStrategy', 'minReadySeconds', 'ordinals', 'revisionHistoryLimit'],
  'persistentVolumeClaimRetentionPolicy',
];
const IMMUTABLE_WORDS =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

function applyDefaults(object: ApiObject): ApiObject {
  const spec = {
    podManagementPolicy: 'OrderedReady',
    replicas: 1,
    revisionHistoryLimit: HISTORY_LIMIT,
    ...objectAt(object, 'spec'),
  };
  const retention = {
    whenDeleted: 'Retain',
    whenScaled: 'Retain',
    ...objectAt(spec, 'persistentVolumeClaimRetentionPolicy'),
  };
  const complete = {
    ...object,
    spec: {
      ...spec,
      updateStrategy: defaultStrategy(objectAt(spec, 'updateStrategy') ?? {}),
      persistentVolumeClaimRetentionPolicy: retention,
    },
  };
  return withItems(defaultTemplateAt(complete, TEMPLATE), CLAIMS, defaultClaimTemplate);
}

function defaultStrategy(strategy: JsonObject): JsonObject {
  const type = textAt(strategy, 'type');
  if (type !== '' && type !== 'RollingUpdate') return strategy;
  const rollingUpdate = objectAt(strategy, 'rollingUpdate');
  if (type !== '' && rollingUpdate === undefined) return strategy;
  return { ...strategy, type: 'RollingUpdate', rollingUpdate: { partition: 0, ...rollingUpdate } };
}

const defaultClaimTemplate = (claim: JsonObject): JsonObject => ({
  ...defaultClaim(claim),
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  status: { phase: 'Pending', ...objectAt(claim, 'status') },
});

/** Removes `maxUnavailable`, whose feature is disabled by default, unless the old StatefulSet has it. */
function prepare(object: ApiObject, old?: ApiObject): ApiObject {
  const prepared = prepareTemplateAt(object, old, TEMPLATE);
  const path = ['spec', 'updateStrategy', 'rollingUpdate', 'maxUnavailable'];
  const isNew = valueAt(prepared, ...path) !== undefined && valueAt(old, ...path) === undefined;
  return isNew ? withValue(prepared, path, undefined) : prepared;
}

function validate(object: ApiObject): FieldError[] {
  const root = new Field();
  validateStatefulSetSpec(objectAt(object, 'spec') ?? {}, root.at('spec'), { pod: {}, isUpdate: false });
  return root.errors;
}

function validateUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const root = new Field();
  const pod = podOptions(objectAt(old, ...TEMPLATE));
  const oldSpec = objectAt(old, 'spec') ?? {};
  const before = new Field();
  validateStatefulSetSpec(oldSpec, before, { pod, isUpdate: true });
  const spec = objectAt(object, 'spec') ?? {};
  validateStatefulSetSpec(spec, root.at('spec'), { pod, isUpdate: true, skipTemplate: before.errors.length > 0 });
  if (!isSameValue(withoutMutable(spec), withoutMutable(oldSpec))) root.at('spec').forbidden(IMMUTABLE_WORDS);
  return root.errors;
}

const withoutMutable = (spec: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(spec).filter(([name]) => !MUTABLE.includes(name)));

function validateStatus(object: ApiObject, old: ApiObject): FieldError[] {
  const root = new Field();
  const field = root.at('status');
  const status = objectAt(object, 'status');
  validateCounts(status, COUNTS, field);
  const names = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];
  validateAtMost(status, names, { limit: 'replicas', words: 'cannot be greater than status.replicas', field });
  const words = 'cannot be greater than status.readyReplicas';
  validateAtMost(status, ['availableReplicas'], { limit: 'readyReplicas', words, field });
  validateCollisions(object, old, field);
  return root.errors;
}

function warnings(object: ApiObject, old: ApiObject | undefined): string[] {
  const claims = objectsAt(object, ...CLAIMS).flatMap((claim, index) => {
    // upstream's claim template warnings have an extra `Spec` in the path for updates
    const at = new Field().at('spec', 'volumeClaimTemplates', index);
    return claimWarnings(objectAt(claim, 'spec'), old === undefined ? at : at.at('Spec'));
  });
  const isEndless = (numberAt(object, 'spec', 'revisionHistoryLimit') ?? 0) < 0;
  const words =
    'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended';
  return [...templateWarnings(object, old, TEMPLATE), ...claims, ...(isEndless ? [words] : [])];
}

export const STATEFUL_SETS: Strategy = {
  applyDefaults,
  prepareForCreate: (object) => resetStatus(prepare(object), { replicas: 0, availableReplicas: 0 }),
  prepareForUpdate: (object, old) => retainStatus(prepare(object, old), old),
  validate,
  validateUpdate,
  warnings,
  nameProblems: nameIsDnsLabel,
  subresources: { status: { prepareForUpdate: statusOnly, validateUpdate: validateStatus } },
  hasGeneration: true,
  scale: scaleOf(),
};
