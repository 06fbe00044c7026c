import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt, valueAt } from '../values.ts';
import { withoutHpaAnnotations } from './hpa-annotations.ts';
import { defaultBehavior, validateBehavior } from './hpa-behavior.ts';
import { validateMetrics } from './hpa-metrics.ts';
import { type ReferenceOptions, validateReference, versionProblem } from './hpa-reference.ts';
import { resetStatus, retainStatus, statusOnly, validateCounts } from './status-fields.ts';

const CPU_UTILIZATION = 80;
const EMPTY_STATUS = { currentMetrics: null, desiredReplicas: 0 };

const DEFAULT_METRICS = [
  {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_UTILIZATION } },
  },
];

/** Sets the defaults. Like upstream, removes the annotations that carry fields of other API versions. */
function applyDefaults(object: ApiObject): ApiObject {
  const spec: JsonObject = { minReplicas: 1, ...objectAt(object, 'spec') };
  const metrics = objectsAt(spec, 'metrics').length === 0 ? DEFAULT_METRICS : spec.metrics;
  const behavior = objectAt(spec, 'behavior');
  const complete = behavior === undefined ? {} : { behavior: defaultBehavior(behavior) };
  return withoutHpaAnnotations({ ...object, spec: { ...spec, metrics, ...complete } });
}

function validate(object: ApiObject, old?: ApiObject): FieldError[] {
  const root = new Field();
  const field = root.at('spec');
  const spec = objectAt(object, 'spec') ?? {};
  const min = numberAt(spec, 'minReplicas');
  const max = numberAt(spec, 'maxReplicas') ?? 0;
  const lowest = numberAt(old, 'spec', 'minReplicas') === 0 ? 0 : 1;
  if (min !== undefined && min < lowest)
    field.at('minReplicas').invalid(min, `must be greater than or equal to ${lowest}`);
  if (max === 0) field.at('maxReplicas').required('must be set and greater than 0');
  else if (max < 0) field.at('maxReplicas').invalid(max, 'must be greater than or equal to 1');
  if (min !== undefined && max < min)
    field.at('maxReplicas').invalid(max, 'must be greater than or equal to `minReplicas`');
  const target = objectAt(spec, 'scaleTargetRef') ?? {};
  validateReference(target, field.at('scaleTargetRef'), targetOptions(target, old));
  validateMetrics(spec, field.at('metrics'), { allowEmptyGroup: true, allowAnyVersion: hasWrongObjectVersion(old) });
  validateBehavior(objectAt(spec, 'behavior'), field.at('behavior'));
  return root.errors;
}

function targetOptions(target: JsonObject, old: ApiObject | undefined): ReferenceOptions {
  const before = objectAt(old, 'spec', 'scaleTargetRef');
  const isSame = ['apiVersion', 'kind'].every((name) => textAt(before, name) === textAt(target, name));
  if (old !== undefined && isSame) return { allowAnyVersion: true };
  return { allowEmptyGroup: textAt(target, 'kind') === 'ReplicationController' };
}

const hasWrongObjectVersion = (old: ApiObject | undefined): boolean =>
  objectsAt(old, 'spec', 'metrics').some((metric) => {
    const described = valueAt(metric, 'object', 'describedObject');
    const apiVersion = textAt(described, 'apiVersion');
    return described !== undefined && versionProblem(apiVersion, { allowEmptyGroup: true }) !== undefined;
  });

function validateStatus(object: ApiObject): FieldError[] {
  const field = new Field('status');
  validateCounts(objectAt(object, 'status'), ['currentReplicas', 'desiredReplicas'], field);
  return field.errors;
}

/** Strategy of HorizontalPodAutoscalers, which are stored as autoscaling/v2. */
export const HORIZONTAL_POD_AUTOSCALERS: Strategy = {
  applyDefaults,
  prepareForCreate: (object) => resetStatus(object, EMPTY_STATUS),
  prepareForUpdate: retainStatus,
  validate: (object) => validate(object),
  validateUpdate: validate,
  subresources: { status: { prepareForUpdate: statusOnly, validateUpdate: validateStatus } },
};
