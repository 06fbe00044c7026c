import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeApi, targetOf } from '../fake-api.fixture.ts';
import { scaleTarget, waitForScale } from './scale.ts';

const target = targetOf('Deployment', {});
const scale = { metadata: { name: 'web', resourceVersion: '5' }, spec: { replicas: 2 } };

test('the replica count is changed only under the given conditions', async () => {
  const api = new FakeApi({ [`${target.path}/scale`]: scale });
  await scaleTarget(api, target, { replicas: 3 });
  await scaleTarget(api, target, { replicas: 4, current: 2 });
  assert.deepEqual(
    api.sent.map(({ body }) => body),
    [
      { metadata: {}, spec: { replicas: 3 } },
      { metadata: { resourceVersion: '5' }, spec: { replicas: 4 } },
    ],
  );
  await assert.rejects(scaleTarget(api, target, { replicas: 3, current: 9 }), {
    message: 'Expected replicas to be 9, was 2',
  });
  await assert.rejects(scaleTarget(api, target, { replicas: 3, resourceVersion: '1' }), {
    message: 'Expected resource version to be 1, was 5',
  });
  const { kind } = target;
  const job = { ...target, kind: { ...kind, subresources: [] } };
  await assert.rejects(scaleTarget(new FakeApi(), job, { replicas: 1 }), { message: /its kind has no replicas$/ });
  await assert.rejects(scaleTarget(new FakeApi(), target, { replicas: 1 }), { code: 'not_found' });
});

test('waiting ends once the controller has created the replicas', async () => {
  const state = (replicas: number) => ({
    type: 'MODIFIED',
    object: {
      metadata: { name: 'web', generation: 1 },
      spec: { replicas: 2 },
      status: { replicas, observedGeneration: 1 },
    },
  });
  const { signal } = new AbortController();
  await waitForScale(new FakeApi({}, [state(1), state(2)]), target, { replicas: 2, signal });
  await assert.rejects(waitForScale(new FakeApi({}, [state(1)]), target, { replicas: 2, signal }), {
    code: 'unavailable',
  });
});
