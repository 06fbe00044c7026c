/** Tests of kinds that are served in several versions but stored in one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ApiObject, type Conversions, invalidValue } from '@podwright/kube-kinds';
import { at, decoded, events, options, refusal, TestRegistries } from './test-registries.fixture.ts';

const V1 = 'horizontalpodautoscalers.autoscaling/v1';
const V2 = 'horizontalpodautoscalers.autoscaling/v2';
const APPLY = 'application/apply-patch+yaml';

type Spec = {
  targetCPUUtilizationPercentage?: number;
  metrics?: { resource: { target: { averageUtilization: number } } }[];
};

const metricsOf = (averageUtilization: number) => [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } },
];

const CONVERSIONS: Conversions = {
  [V1]: {
    toStored: ({ spec, ...object }: ApiObject) => {
      const { targetCPUUtilizationPercentage: target, ...others } = (spec ?? {}) as Spec;
      const metrics = target === undefined ? {} : { metrics: metricsOf(target) };
      return { ...object, apiVersion: 'autoscaling/v2', spec: { ...others, ...metrics } };
    },
    fromStored: ({ spec, ...object }: ApiObject) => {
      const { metrics, ...others } = (spec ?? {}) as Spec;
      const target = metrics?.[0]?.resource.target.averageUtilization;
      const own = target === undefined ? {} : { targetCPUUtilizationPercentage: target };
      return { ...object, apiVersion: 'autoscaling/v1', spec: { ...others, ...own } };
    },
    validate: ({ spec }) => {
      const { maxReplicas } = spec as { maxReplicas: number };
      return maxReplicas === 99 ? [invalidValue('spec.maxReplicas', 99, 'not in v1')] : [];
    },
  },
  'events.events.k8s.io/v1': {
    toStored: ({ regarding, ...object }) => ({ ...object, apiVersion: 'v1', involvedObject: regarding }),
    fromStored: ({ involvedObject, ...object }) => ({
      ...object,
      apiVersion: 'events.k8s.io/v1',
      regarding: involvedObject,
    }),
    selectableFields: { 'regarding.kind': 'involvedObject.kind' },
    errorFields: { count: 'deprecatedCount' },
    nameProblems: (name) => (name.length > 5 ? ['too long for v1'] : []),
  },
};

const autoscaler = (version: string, spec: object): ApiObject =>
  decoded(`autoscaling/${version}`, 'HorizontalPodAutoscaler', {
    metadata: { name: 'a' },
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 5, ...spec },
  });

const targetOf = ({ spec }: ApiObject): unknown => (spec as Spec).targetCPUUtilizationPercentage;

/** Creates a HorizontalPodAutoscaler in v1 with a target of 50, using the field manager `one`. */
async function withAutoscaler() {
  const test = new TestRegistries({ conversions: CONVERSIONS });
  const [v1, v2] = [test.of(V1), test.of(V2)];
  const context = (fieldManager: string) => test.context({ fieldManager });
  const made = await v1.create('default', autoscaler('v1', { targetCPUUtilizationPercentage: 50 }), context('one'));
  return { test, v1, v2, context, made };
}

/** Formats managed fields entries as `MANAGER VERSION: SPEC FIELDS`. */
function managers({ metadata }: ApiObject): string[] {
  const entries = metadata.managedFields as { manager: string; apiVersion: string; fieldsV1: { 'f:spec': object } }[];
  return entries.map(({ manager, apiVersion, fieldsV1 }) => {
    const fields = Object.keys(fieldsV1['f:spec']).map((field) => field.slice(2));
    return `${manager} ${apiVersion.slice(-2)}: ${fields.join(' ')}`;
  });
}

describe('an object of another version', () => {
  it('is stored in one version, and returned in that of the request', async () => {
    const { test, v1, v2, made } = await withAutoscaler();
    assert.deepEqual([made.apiVersion, targetOf(made)], ['autoscaling/v1', 50]);
    const [v1Object, v2Object] = [v1, v2].map((registry) => registry.get(at('a')).decode());
    assert.deepEqual([targetOf(v1Object!), (v1Object!.spec as Spec).metrics], [50, undefined]);
    assert.deepEqual([v2Object!.apiVersion, (v2Object!.spec as Spec).metrics], ['autoscaling/v2', metricsOf(50)]);
    const [listed] = (await v1.list('', options())).objects;
    assert.equal(targetOf(listed!.decode()), 50);
    const watch = v1.watch({ namespace: '', options: options() });
    const { value: batch } = await watch[Symbol.asyncIterator]().next();
    assert.ok(batch?.[0]?.type === 'ADDED');
    assert.equal(targetOf(batch[0].object.decode()), 50);
    const { object, removed } = await v1.delete(at('a'), {}, test.context());
    assert.deepEqual([removed, targetOf(object)], [true, 50]);
  });

  it('is patched and validated in that of the request', async () => {
    const { v1, context } = await withAutoscaler();
    const patch = (spec: object) =>
      v1.patch(at('a'), { mediaType: 'application/merge-patch+json', patch: { spec } }, context('one'));
    assert.equal(targetOf((await patch({ targetCPUUtilizationPercentage: 60 })).object), 60);
    assert.match(
      (await refusal(() => patch({ maxReplicas: 99 }))).message,
      /spec.maxReplicas: Invalid value: 99: not in v1/,
    );
  });
});

describe('managed fields', () => {
  it('have the version in which their manager wrote', async () => {
    const { v2, context, made } = await withAutoscaler();
    const own = 'one v1: maxReplicas scaleTargetRef';
    assert.deepEqual(managers(made), [`${own} targetCPUUtilizationPercentage`]);
    const { object } = await v2.update(at('a'), autoscaler('v2', { metrics: metricsOf(70) }), context('two'));
    assert.deepEqual(managers(object), [own, 'two v2: metrics']);
  });

  it('conflict with an apply in another version, unless it is forced', async () => {
    const { v2, context } = await withAutoscaler();
    const { spec: _, ...head } = autoscaler('v2', {});
    const patch = {
      apiVersion: head.apiVersion,
      kind: head.kind,
      metadata: { name: 'a' },
      spec: { metrics: metricsOf(70) },
    };
    const apply = (force: boolean) => v2.patch(at('a'), { mediaType: APPLY, patch, force }, context('two'));
    const conflicts = await refusal(() => apply(false));
    assert.equal(
      conflicts.message,
      'Apply failed with 1 conflict: conflict with "one" using autoscaling/v1: .spec.targetCPUUtilizationPercentage',
    );
    assert.deepEqual(managers((await apply(true)).object), ['two v2: metrics', 'one v1: maxReplicas scaleTargetRef']);
  });

  it('of versions that are not served are discarded by the next write', async () => {
    const { test, v2, context } = await withAutoscaler();
    const key = { resource: 'horizontalpodautoscalers.autoscaling', namespace: 'default', name: 'a' };
    const stored = test.store.get(key)!;
    const text = JSON.stringify(stored.decode()).replace(
      '"apiVersion":"autoscaling/v1"',
      '"apiVersion":"autoscaling/v2beta1"',
    );
    test.store.update(key, JSON.parse(text), stored.revision);
    const { object } = await v2.update(at('a'), autoscaler('v2', { metrics: metricsOf(70) }), context('two'));
    assert.deepEqual(managers(object), ['two v2: metrics']);
  });
});

it('events of both groups are the same objects, with fields of their own names', async () => {
  const test = new TestRegistries({ conversions: CONVERSIONS });
  const [core, group] = [test.of('events'), test.of('events.events.k8s.io/v1')];
  const regarding = { kind: 'Pod' };
  await group.create(
    'default',
    decoded('events.k8s.io/v1', 'Event', { metadata: { name: 'e' }, regarding }),
    test.context(),
  );
  assert.deepEqual(core.get(at('e')).decode().involvedObject, regarding);
  const query = (field: string) => options(`fieldSelector=${field}.kind%3DPod`);
  assert.equal((await core.list('', query('involvedObject'))).objects.length, 1);
  const [event] = (await group.list('', query('regarding'))).objects;
  assert.deepEqual(event!.decode().regarding, regarding);
  assert.equal((await refusal(() => group.list('', query('involvedObject')))).code, 400);
  const watch = core.watch({ namespace: '', options: options() });
  assert.deepEqual(await events(watch, 1), [`ADDED e@${test.store.revision}`]);
  const long = decoded('events.k8s.io/v1', 'Event', { metadata: { name: 'eventful' } });
  const { message } = await refusal(() => group.create('default', long, test.context()));
  assert.match(message, /metadata.name: Invalid value: "eventful": too long for v1/);
  const negative = decoded('v1', 'Event', { metadata: { name: 'n' }, involvedObject: regarding, count: -1 });
  const errorOf = async (registry: typeof core, object: ApiObject) =>
    (await refusal(() => registry.create('default', object, test.context()))).details?.causes?.[0]?.field;
  assert.equal(await errorOf(core, negative), 'count');
  const { involvedObject: _, ...others } = negative;
  assert.equal(await errorOf(group, { ...others, apiVersion: 'events.k8s.io/v1' } as ApiObject), 'deprecatedCount');
});
