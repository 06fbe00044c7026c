import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuntimeClassAdmission } from './runtime-class.ts';
import { admit, object, rejects, storeOf } from './test-admission.fixture.ts';
import { mergedTolerations } from './tolerations.ts';

const podFixed = { cpu: '100m', memory: '64Mi' };
const scheduling = { nodeSelector: { kata: 'true' }, tolerations: [{ key: 'kata', operator: 'Exists' }] };
const plugin = new RuntimeClassAdmission(
  storeOf({ 'runtimeclasses.node.k8s.io': [object('kata', { overhead: { podFixed }, scheduling }), object('plain')] }),
);
const pod = (spec: Record<string, unknown>) => ({ to: 'pods', object: object('shop/web', { spec }) });
const specOf = async (spec: Record<string, unknown>) => (await admit(plugin, pod(spec))).object.spec;
const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

test('a pod gets the overhead, node selector and tolerations of its RuntimeClass', async () => {
  const admitted = { runtimeClassName: 'kata', overhead: podFixed, ...scheduling };
  assert.deepEqual(await specOf({ runtimeClassName: 'kata' }), admitted);
  const own = { runtimeClassName: 'kata', nodeSelector: { disk: 'ssd' }, overhead: { cpu: '0.1', memory: '64Mi' } };
  assert.deepEqual(await specOf(own), { ...admitted, nodeSelector: { disk: 'ssd', kata: 'true' } });
  assert.deepEqual(await specOf({ runtimeClassName: 'plain' }), { runtimeClassName: 'plain' });
  assert.deepEqual(await specOf({}), {});
});

test('a pod that conflicts with its RuntimeClass is rejected', async () => {
  await rejects(
    plugin,
    pod({ runtimeClassName: 'none' }),
    'pods "web" is forbidden: pod rejected: RuntimeClass "none" not found',
  );
  await rejects(plugin, pod({ runtimeClassName: 'kata', overhead: { cpu: '1' } }), MISMATCH);
  const undefinedOverhead = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
  await rejects(plugin, pod({ overhead: podFixed }), undefinedOverhead);
  await rejects(plugin, pod({ overhead: podFixed, runtimeClassName: 'plain' }), undefinedOverhead);
  await rejects(
    plugin,
    pod({ runtimeClassName: 'kata', nodeSelector: { kata: 'false' } }),
    'conflict: runtimeClass.scheduling.nodeSelector[kata] = true; pod.spec.nodeSelector[kata] = false',
  );
});

test('overlapping tolerations are merged into the broader one', () => {
  const check = (first: object[], second: object[], expected: object[]) =>
    assert.deepEqual(mergedTolerations(first as never, second as never), expected);
  const all = { operator: 'Exists' };
  const key = { key: 'a', operator: 'Exists' };
  const value = { key: 'a', operator: 'Equal', value: 'x', effect: 'NoSchedule' };
  const brief = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
  check([key], [key], [key]);
  check([value], [key], [key]);
  check([key], [value], [key]);
  check([value, brief], [all], [all]);
  check([value], [{ ...value, value: 'y' }], [value, { ...value, value: 'y' }]);
  check([brief], [{ ...brief, tolerationSeconds: 9 }], [{ ...brief, tolerationSeconds: 9 }]);
  check([key], [brief], [key]);
  check(
    [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }],
    [brief],
    [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }],
  );
  check([brief], [{ key: 'b', operator: 'Exists' }], [brief, { key: 'b', operator: 'Exists' }]);
});
