/** Objects from clients may contain any values in any number: strategies must not throw, or take more than linear time. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ApiObject } from '../api-object.ts';
import { isObject, type JsonObject } from '../values.ts';
import { HPA_V1 } from './hpa-conversion.ts';
import { decode, POD, set, strategyOf, type TestObject, workload } from './strategy-checks.fixture.ts';
import { WORKLOAD_CONVERSIONS, WORKLOAD_STRATEGIES } from './workloads.ts';

const FEW = 1500;
/** Eight times the items should take about eight times as long; quadratic time would be 64 times as long. */
const MANY = 8 * FEW;
const MAX_RATIO = 32;
const MAX_MS = 1000;
const CONTEXT = { user: { username: 'x', groups: [] }, nowMs: 0 };

/** Calls every function of a resource's strategy with the object. */
function exercise(resource: string, object: ApiObject, old: ApiObject = object): void {
  const strategy = strategyOf(resource);
  const complete = strategy.applyDefaults?.(object) ?? object;
  const before = strategy.applyDefaults?.(old) ?? old;
  const prepared = strategy.prepareForCreate?.(complete, CONTEXT) ?? complete;
  strategy.validate?.(prepared);
  strategy.warnings?.(prepared, undefined);
  strategy.validateUpdate?.(strategy.prepareForUpdate?.(complete, before) ?? complete, before);
  strategy.warnings?.(complete, before);
  for (const subresource of Object.values(strategy.subresources ?? {}))
    subresource.validateUpdate?.(subresource.prepareForUpdate(complete, before), before);
  for (const textOf of Object.values(strategy.selectableFields ?? {})) textOf(complete);
  strategy.gracePeriodSeconds?.(complete, undefined);
  strategy.scale?.withScale(complete, strategy.scale.scaleOf(complete));
  const conversion = WORKLOAD_CONVERSIONS[`${resource}/v1`];
  conversion?.fromStored(complete);
  conversion?.toStored(complete);
}

const JUNK: readonly unknown[] = [
  null,
  [],
  {},
  '',
  'x',
  -1,
  1.5,
  true,
  [null],
  [[]],
  { constructor: 1, __proto__: null },
];

/** Yields copies of a value, each with one nested value replaced by junk. */
function* corrupted(value: unknown): Generator<unknown> {
  yield* JUNK;
  if (!isObject(value) && !Array.isArray(value)) return;
  for (const [key, inner] of Object.entries(value))
    for (const wrong of corrupted(inner)) {
      const copy = Array.isArray(value) ? [...value] : { ...value };
      (copy as JsonObject)[key] = wrong;
      yield copy;
    }
}

for (const resource of Object.keys(WORKLOAD_STRATEGIES))
  test(`the strategy of ${resource} does not throw for fields of wrong types`, () => {
    const spec = { ...(workload('apps/v1', 'Deployment').spec as JsonObject), ...(POD.spec as JsonObject) };
    const status = { conditions: [{ type: 'x' }], containerStatuses: [{ name: 'web' }], replicas: 1 };
    for (const wrong of corrupted({ spec, status }))
      exercise(
        resource,
        { metadata: { name: 'x' }, ...(isObject(wrong) ? wrong : {}) },
        { metadata: { name: 'x' }, spec, status },
      );
  });

type Item = (index: number) => unknown;
const listOf = (count: number) => (item: Item) => Array.from({ length: count }, (_, index) => item(index));

const container = (index: number) => ({
  name: `c${index}`,
  image: 'x',
  ports: [{ containerPort: 1, hostPort: index + 1 }],
});
const constraint = (index: number) => ({ maxSkew: 1, topologyKey: `k${index}`, whenUnsatisfiable: 'ScheduleAnyway' });
const APPARMOR = 'container.apparmor.security.beta.kubernetes.io';
const volumeOf = (items: unknown) => ({ 'spec.volumes': [{ name: 'a', configMap: { name: 'x', items } }] });

/** Changes that make a pod's lists very long, by name of the list. */
const LONG: Readonly<Record<string, (list: (item: Item) => unknown[], count: number) => Record<string, unknown>>> = {
  containers: (list) => ({ 'spec.containers': list(container) }),
  volumes: (list) => ({ 'spec.volumes': list((index) => ({ name: `v${index}`, emptyDir: {} })) }),
  'mounts and devices': (list) => ({
    'spec.containers.0.volumeMounts': list((index) => ({ name: `v${index}`, mountPath: `/${index}` })),
    'spec.containers.0.volumeDevices': list((index) => ({ name: `d${index}`, devicePath: `/${index}` })),
  }),
  files: (list) => volumeOf(list(() => ({ key: 'a', path: 'a/b/c' }))),
  steps: (_, count) => volumeOf([{ key: 'a', path: 'a/'.repeat(count) }]),
  constraints: (list) => ({ 'spec.topologySpreadConstraints': list(constraint) }),
  keys: (list) => ({
    'spec.topologySpreadConstraints': [
      { ...constraint(0), labelSelector: {}, matchLabelKeys: list((index) => `k${index}`) },
    ],
  }),
  claims: (list) => ({
    'spec.containers.0.resources.claims': list((index) => ({
      name: `c${index}`,
      ...(index % 2 === 0 ? {} : { request: 'x' }),
    })),
  }),
  tolerations: (list) => ({ 'spec.tolerations': list((index) => ({ key: `k${index}`, operator: 'Exists' })) }),
  variables: (list) => ({ 'spec.containers.0.env': list(() => ({ name: 'A', value: 'x' })) }),
  ports: (list) => ({ 'spec.containers.0.ports': list((index) => ({ containerPort: 1, hostPort: index + 1 })) }),
  sysctls: (list) => ({ 'spec.securityContext.sysctls': list(() => ({ name: `${'a.'.repeat(120)}-`, value: '1' })) }),
  annotations: (list) => ({
    'metadata.annotations': Object.fromEntries(list((index) => [`${APPARMOR}/${index}`, 'x']) as [string, string][]),
  }),
};

for (const [name, changes] of Object.entries(LONG))
  test(`a pod with very many ${name} is validated in linear time`, () => {
    const msOf = (count: number): number => {
      const pod = decode(set(POD, changes(listOf(count), count)));
      // compare CPU time, which does not include delays caused by other processes
      const start = process.cpuUsage();
      exercise('pods', pod);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    };
    msOf(FEW);
    const few = msOf(FEW);
    const many = msOf(MANY);
    assert.ok(
      many < MAX_MS || many < MAX_RATIO * few,
      `${Math.round(many)} ms for ${MANY}, ${Math.round(few)} ms for ${FEW}`,
    );
  });

const directory = process.env.PODWRIGHT_KUBERNETES_DATA;
const files =
  directory === undefined
    ? []
    : globSync(join(directory, 'objects/{core,apps,autoscaling,batch,policy,scheduling.k8s.io}.v[12].*.json'));

const resources = new Map(Object.keys(WORKLOAD_STRATEGIES).map((one) => [one.split('.')[0]!, one]));

for (const file of files) {
  const object = JSON.parse(readFileSync(file, 'utf8')) as TestObject;
  // a watch event does not contain a kind, so pass an empty one
  const kind = object.kind ?? '';
  const plural = `${kind.toLowerCase()}${kind.endsWith('s') ? 'es' : 's'}`;
  const resource = resources.get(plural);
  if (resource !== undefined)
    test(`an object with every field set passes its strategy: ${object.apiVersion} ${kind}`, () => {
      const { apiVersion } = object;
      const stored = apiVersion === 'autoscaling/v1' ? HPA_V1.toStored(object as unknown as ApiObject) : object;
      exercise(resource, stored as ApiObject);
      const complete = strategyOf(resource).applyDefaults?.(stored as ApiObject) ?? stored;
      assert.deepEqual(strategyOf(resource).applyDefaults?.(complete as ApiObject) ?? stored, complete);
    });
}
