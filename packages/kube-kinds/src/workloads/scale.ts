/** The `scale` subresource of workloads (autoscaling/v1, Scale). */
import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { ScaleStrategy } from '../strategy.ts';
import {
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textEntriesAt,
  textsAt,
  withValue,
} from '../values.ts';

const METADATA = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'];

const REPLICAS = ['spec', 'replicas'];

/** API versions of workloads that may occur in `managedFields`. Only the last one is served. */
const WORKLOAD_VERSIONS = ['apps/v1beta1', 'apps/v1beta2', 'apps/v1'];

/** Returns the `scale` strategy of a kind. If `isPlainSelector` is true, the kind's selector is a plain label map. */
export const scaleOf = ({ isPlainSelector = false, versions = WORKLOAD_VERSIONS } = {}): ScaleStrategy => ({
  replicasPaths: Object.fromEntries(versions.map((version) => [version, REPLICAS])),
  scaleOf: (object) => {
    const selector = objectAt(object, 'spec', 'selector');
    const text = isPlainSelector ? selectorText({ matchLabels: selector }) : selectorText(selector);
    const status = { replicas: numberAt(object, 'status', 'replicas') ?? 0 };
    return {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: Object.fromEntries(Object.entries(object.metadata).filter(([name]) => METADATA.includes(name))),
      spec: replicasOf(object),
      status: text === '' ? status : { ...status, selector: text },
    };
  },
  withScale: (object, scale) => {
    const { resourceVersion: _, ...metadata } = object.metadata;
    const { resourceVersion } = scale.metadata;
    const scaled = withValue(object, REPLICAS, numberAt(scale, 'spec', 'replicas') ?? 0);
    return { ...scaled, metadata: resourceVersion === undefined ? metadata : { ...metadata, resourceVersion } };
  },
  validate: (scale: ApiObject) => {
    const field = new Field();
    field.at('spec', 'replicas').notNegative(numberAt(scale, 'spec', 'replicas'));
    return field.errors;
  },
});

/** Returns the Scale's `spec`; Go omits `replicas` if it is 0. */
function replicasOf(object: ApiObject): JsonObject {
  const replicas = numberAt(object, 'spec', 'replicas') ?? 0;
  return replicas === 0 ? {} : { replicas };
}

/** Formats a selector like the `labelSelector` parameter of list requests: `a=1,b in (x,y),!c`. */
function selectorText(selector: JsonObject | undefined): string {
  const labels = textEntriesAt(selector, 'matchLabels').map(([key, value]) => ({ key, text: `${key}=${value}` }));
  const expressions = objectsAt(selector, 'matchExpressions').map((one) => ({
    key: textAt(one, 'key'),
    text: expressionText(one),
  }));
  const requirements = [...labels, ...expressions].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return requirements.map(({ text }) => text).join(',');
}

function expressionText(expression: JsonObject): string {
  const key = textAt(expression, 'key');
  const values = [...textsAt(expression, 'values')].sort().join(',');
  switch (textAt(expression, 'operator')) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'Exists':
      return key;
    default:
      return `!${key}`;
  }
}
