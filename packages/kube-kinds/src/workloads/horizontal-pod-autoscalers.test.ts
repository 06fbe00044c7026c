import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../api-object.ts';
import { valueAt } from '../values.ts';
import { HPA_V1 } from './hpa-conversion.ts';
import {
  created,
  createErrors,
  decode,
  set,
  type TestObject,
  updateErrors,
  withDefaults,
} from './strategy-checks.fixture.ts';

const RESOURCE = 'horizontalpodautoscalers.autoscaling';
const TARGET = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const HPA: TestObject = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace: 'default' },
  spec: { scaleTargetRef: TARGET, maxReplicas: 5 },
};
const V1: TestObject = { ...HPA, apiVersion: 'autoscaling/v1' };

const CPU = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } };
const PERCENT = { type: 'Percent', value: 100, periodSeconds: 15 };

test('an autoscaler gets upstream’s defaults', () => {
  assert.deepEqual(
    created(RESOURCE, set(HPA, { 'spec.behavior': { scaleDown: { stabilizationWindowSeconds: 60 } } })),
    {
      ...HPA,
      spec: {
        scaleTargetRef: TARGET,
        minReplicas: 1,
        maxReplicas: 5,
        metrics: [CPU],
        behavior: {
          scaleUp: {
            stabilizationWindowSeconds: 0,
            selectPolicy: 'Max',
            policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, PERCENT],
          },
          scaleDown: { stabilizationWindowSeconds: 60, selectPolicy: 'Max', policies: [PERCENT] },
        },
      },
      status: { currentMetrics: null, desiredReplicas: 0 },
    },
  );
});

const metric = (changes: Record<string, unknown>) => ({ 'spec.metrics': [changes] });

const TABLE: readonly (readonly [name: string, changes: Record<string, unknown>, errors: readonly string[]])[] = [
  ['a valid autoscaler', {}, []],
  [
    'no maximum',
    { 'spec.maxReplicas': 0 },
    [
      'spec.maxReplicas: Required value: must be set and greater than 0',
      'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
    ],
  ],
  [
    'a minimum of 0',
    { 'spec.minReplicas': 0 },
    [
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ],
  ],
  [
    'a target',
    { 'spec.scaleTargetRef': { kind: 'a/b', name: '..', apiVersion: 'v1' } },
    [
      'spec.scaleTargetRef.kind: Invalid value: "a/b": may not contain \'/\'',
      'spec.scaleTargetRef.name: Invalid value: "..": may not be \'..\'',
      'spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group',
    ],
  ],
  [
    'a version of three parts',
    { 'spec.scaleTargetRef.apiVersion': 'a/b/c' },
    ['spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
  ],
  [
    'an unknown type of metric',
    metric({ type: 'x' }),
    [
      'spec.metrics[0].type: Unsupported value: "x": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
      'spec.metrics[0].type: Unsupported value: "x": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
    ],
  ],
  [
    'another source than its type',
    metric({ type: 'Pods', resource: CPU.resource }),
    ['spec.metrics[0].pods: Required value: must populate information for the given metric source'],
  ],
  [
    'two sources',
    metric({ ...CPU, pods: { metric: { name: 'x' }, target: { type: 'AverageValue', averageValue: '1' } } }),
    ['spec.metrics[0].pods: Forbidden: must populate the given metric source only'],
  ],
  [
    'a resource without a target',
    metric({ type: 'Resource', resource: { target: {} } }),
    [
      'spec.metrics[0].resource.name: Required value: must specify a resource name',
      'spec.metrics[0].resource.target.type: Required value: must specify a metric target type',
      'spec.metrics[0].resource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
      'spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization',
    ],
  ],
  [
    'an external metric',
    metric({
      type: 'External',
      external: { metric: { name: 'a%b' }, target: { type: 'Value', value: '0', averageValue: '1' } },
    }),
    [
      'spec.metrics[0].external.metric.name: Invalid value: "a%b": may not contain \'%\'',
      'spec.metrics[0].external.target.value: Invalid value: "0": must be positive',
      'spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target',
    ],
  ],
  [
    'behavior',
    {
      'spec.behavior.scaleUp': {
        stabilizationWindowSeconds: 3601,
        selectPolicy: 'x',
        policies: [{ type: 'x', value: 0, periodSeconds: 1801 }],
        tolerance: '-1',
      },
    },
    [
      'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
      'spec.behavior.scaleUp.selectPolicy: Unsupported value: "x": supported values: "Disabled", "Max", "Min"',
      'spec.behavior.scaleUp.policies[0].type: Unsupported value: "x": supported values: "Percent", "Pods"',
      'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
      'spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ],
];

for (const [name, changes, errors] of TABLE)
  test(`an autoscaler's errors are upstream's: ${name}`, () => {
    assert.deepEqual(createErrors(RESOURCE, set(HPA, changes)), errors);
  });

test('an existing autoscaler may keep its target’s version and a minimum of 0', () => {
  const old = set(created(RESOURCE, HPA), { 'spec.scaleTargetRef.apiVersion': 'v1', 'spec.minReplicas': 0 });
  assert.deepEqual(
    updateErrors(RESOURCE, old, (object) => set(object, { 'spec.maxReplicas': 6 })),
    [
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ],
  );
});

const stored = (object: TestObject): ApiObject => {
  const { metadata, spec, status, ...others } = HPA_V1.toStored(decode(object));
  return { ...others, metadata, spec, status };
};

test('an autoscaling/v1 object is stored as autoscaling/v2', () => {
  const { apiVersion, spec } = stored(set(V1, { 'spec.targetCPUUtilizationPercentage': 50 }));
  assert.equal(apiVersion, 'autoscaling/v2');
  assert.deepEqual(valueAt(spec, 'metrics', 0, 'resource', 'target'), { type: 'Utilization', averageUtilization: 50 });
  assert.deepEqual(valueAt(stored(V1).spec, 'metrics'), [CPU]);
});

const METRICS = [
  CPU,
  {
    type: 'Pods',
    pods: {
      metric: { name: 'rps', selector: { matchLabels: { a: 'b' } } },
      target: { type: 'AverageValue', averageValue: '1k' },
    },
  },
  {
    type: 'Object',
    object: {
      describedObject: { kind: 'Service', name: 'x', apiVersion: 'v1' },
      metric: { name: 'y' },
      target: { type: 'Value', value: '2' },
    },
  },
  { type: 'External', external: { metric: { name: 'z' }, target: { type: 'AverageValue', averageValue: '3' } } },
  {
    type: 'ContainerResource',
    containerResource: { name: 'memory', container: 'c', target: { type: 'Utilization', averageUtilization: 9 } },
  },
];

test('fields missing in autoscaling/v1 are kept in annotations', () => {
  const object = set(withDefaults(RESOURCE, set(HPA, { 'spec.metrics': METRICS, 'spec.behavior': {} })), {
    'metadata.annotations': { a: 'b' },
    'status.conditions': [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    'status.currentMetrics': [
      { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '5m', averageUtilization: 3 } } },
    ],
  });
  const old = HPA_V1.fromStored(object);
  assert.deepEqual(old.spec, {
    scaleTargetRef: TARGET,
    minReplicas: 1,
    maxReplicas: 5,
    targetCPUUtilizationPercentage: 80,
  });
  assert.equal(valueAt(old, 'status', 'currentCPUUtilizationPercentage'), 3);
  const prefix = 'autoscaling.alpha.kubernetes.io/';
  const annotations = old.metadata.annotations ?? {};
  assert.deepEqual(Object.keys(annotations).sort(), [
    'a',
    ...['behavior', 'conditions', 'current-metrics', 'metrics'].map((name) => prefix + name),
  ]);
  assert.equal(
    annotations[`${prefix}metrics`],
    '[{"type":"Pods","pods":{"metricName":"rps","targetAverageValue":"1k","selector":{"matchLabels":{"a":"b"}}}},{"type":"Object","object":{"target":{"kind":"Service","name":"x","apiVersion":"v1"},"metricName":"y","targetValue":"2"}},{"type":"External","external":{"metricName":"z","targetAverageValue":"3"}},{"type":"ContainerResource","containerResource":{"name":"memory","targetAverageUtilization":9,"container":"c"}}]',
  );
  assert.match(
    annotations[`${prefix}behavior`] ?? '',
    /^\{"ScaleUp":\{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":\[\{"Type":"Pods","Value":4,"PeriodSeconds":15\}/,
  );
  const again = HPA_V1.toStored(old);
  assert.deepEqual(again.metadata.annotations, { a: 'b' });
  assert.deepEqual(again.status, { ...(object.status as object), currentReplicas: 0 });
  const byType = (one: ApiObject) =>
    (valueAt(one, 'spec', 'metrics') as { type: string }[]).map(({ type }) => type).sort();
  assert.deepEqual(byType(again), byType(object));
  assert.deepEqual(valueAt(again, 'spec', 'behavior'), valueAt(object, 'spec', 'behavior'));
});

test('autoscaling/v1 annotations with invalid values are ignored', () => {
  const prefix = 'autoscaling.alpha.kubernetes.io/';
  const values = [
    '{',
    '[1]',
    '[{"type":"Pods","pods":{"targetAverageValue":"x"}}]',
    '[{"type":1}]',
    '"x"',
    '{"ScaleUp":{"Policies":[{"Value":1.5}]}}',
  ];
  for (const value of values) {
    const names = ['metrics', 'behavior', 'conditions', 'current-metrics'];
    const annotations = Object.fromEntries(names.map((name) => [prefix + name, value]));
    const { spec, metadata, status } = stored(set(V1, { 'metadata.annotations': annotations }));
    assert.deepEqual(valueAt(spec, 'metrics'), [CPU], value);
    assert.equal(valueAt(spec, 'behavior'), undefined, value);
    assert.equal(metadata.annotations, undefined);
    assert.equal(valueAt(status, 'conditions'), undefined, value);
  }
});
