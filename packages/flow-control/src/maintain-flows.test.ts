import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiObject, STRATEGIES } from '@podwright/kube-kinds';
import { AUTO_UPDATE, type FlowObjects, mandatoryFlowObjects, suggestedFlowObjects } from './bootstrap-flows.ts';
import { danglingCondition } from './dangling-condition.ts';
import { flowChanges } from './maintain-flows.ts';
import { RetryAfter } from './retry-after.ts';

const all = (): { schemas: ApiObject[]; levels: ApiObject[] } => {
  const [mandatory, suggested] = [mandatoryFlowObjects(), suggestedFlowObjects()];
  return {
    schemas: [...mandatory.schemas, ...suggested.schemas],
    levels: [...mandatory.levels, ...suggested.levels],
  };
};
const named = (objects: readonly ApiObject[]) => objects.map(({ metadata }) => metadata.name);

/** Changes one object of a new cluster. Returns the changes that the server then makes to the stored objects. */
function after(name: string, change: (object: ApiObject) => ApiObject) {
  const { schemas, levels } = all();
  const changed = (one: ApiObject) => (one.metadata.name === name ? change(one) : one);
  return flowChanges({ schemas: schemas.map(changed), levels });
}

const annotated = (value: string) => (object: ApiObject) => ({
  ...object,
  metadata: { ...object.metadata, annotations: { [AUTO_UPDATE]: value } },
});
const other = (object: ApiObject) => ({ ...object, spec: { ...(object.spec as object), matchingPrecedence: 77 } });

test('the objects of a new cluster are valid, and have all defaults set', () => {
  for (const object of [...all().schemas, ...all().levels]) {
    const resource = `${object.kind!.toLowerCase()}s.flowcontrol.apiserver.k8s.io`;
    const strategy = STRATEGIES[resource]!;
    assert.deepEqual(strategy.validate!(object), [], object.metadata.name);
    assert.deepEqual(strategy.applyDefaults!(object), object, object.metadata.name);
  }
});

test('missing objects are created, levels before schemas, and complete ones left unchanged', () => {
  const none: FlowObjects = { schemas: [], levels: [] };
  const { create } = flowChanges(none);
  assert.equal(create.length, 19);
  assert.equal(
    create.findIndex(({ kind }) => kind === 'FlowSchema'),
    8,
  );
  assert.deepEqual(flowChanges(all()), { create: [], update: [], remove: [] });
});

test('changed specs are restored, except those of suggested objects with the annotation set to false', () => {
  assert.deepEqual(named(after('probes', other).update), ['probes']);
  const takenOver = (object: ApiObject) => other(annotated('false')(object));
  assert.deepEqual(after('probes', takenOver).update, []);
  const [restored] = after('catch-all', takenOver).update;
  assert.equal(restored!.metadata.annotations![AUTO_UPDATE], 'true');
  assert.equal((restored!.spec as { matchingPrecedence: number }).matchingPrecedence, 10_000);
});

test('a missing annotation is added: true if the spec is unchanged, otherwise false', () => {
  const without = (generation: number) => (object: ApiObject) => ({
    ...object,
    metadata: { name: object.metadata.name, generation },
  });
  const [same] = after('probes', without(1)).update;
  assert.equal(same!.metadata.annotations![AUTO_UPDATE], 'true');
  const [taken] = after('probes', (object) => other(without(2)(object))).update;
  assert.equal(taken!.metadata.annotations![AUTO_UPDATE], 'false');
  assert.equal((taken!.spec as { matchingPrecedence: number }).matchingPrecedence, 77);
});

test('administrator-set shares of the exempt level are preserved', () => {
  const { schemas, levels } = all();
  const shares = { nominalConcurrencyShares: 10, lendablePercent: 50 };
  const after = (spec: object) =>
    flowChanges({ schemas, levels: levels.map((one) => (one.metadata.name === 'exempt' ? { ...one, spec } : one)) });
  assert.deepEqual(named(after({ type: 'Exempt', exempt: shares }).update), []);
  const [restored] = after({ type: 'Exempt' }).update;
  assert.deepEqual(restored!.spec, { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } });
});

test('objects of earlier versions are removed, but not those of users', () => {
  const { schemas, levels } = all();
  const old = annotated('true')({ ...schemas[0]!, metadata: { name: 'old' } });
  const mine = { ...schemas[0]!, metadata: { name: 'mine' } };
  assert.deepEqual(named(flowChanges({ schemas: [...schemas, old, mine], levels }).remove), ['old']);
});

test('the condition of a schema reports whether its level exists', () => {
  const [schema] = suggestedFlowObjects().schemas;
  const refers = 'This FlowSchema references the PriorityLevelConfiguration object named "exempt"';
  const found = danglingCondition(schema!, new Set(['exempt']));
  assert.deepEqual(found, { type: 'Dangling', status: 'False', reason: 'Found', message: `${refers} and it exists` });
  const missing = danglingCondition(schema!, new Set());
  const message = `${refers} but there is no such object`;
  assert.deepEqual(missing, { type: 'Dangling', status: 'True', reason: 'NotFound', message });
  const with_ = { ...schema!, status: { conditions: [missing] } };
  assert.equal(danglingCondition(with_, new Set()), undefined);
});

test('the retry time doubles while many requests are rejected, and decreases afterwards', () => {
  const retry = new RetryAfter();
  const refuse = (second: number, times: number) => {
    for (let time = 0; time < times; time++) retry.refused(1000 * second);
    return retry.seconds;
  };
  assert.equal(refuse(100, 9), 1);
  assert.equal(refuse(101, 9), 2);
  assert.equal(refuse(102, 9), 2, 'not twice within the time');
  assert.equal(refuse(103, 9), 4);
  for (let second = 104; second < 200; second++) refuse(second, 200);
  assert.equal(retry.seconds, 32);
  for (let second = 300; second < 400; second++) refuse(second, 1);
  assert.ok(retry.seconds < 32);
});
