import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { fakeRuntime } from './dependencies.fixture.ts';
import { withSharedRemovals } from './shared-removals.ts';

test('a container that two want removed at once is removed once, and both hear how that went', async () => {
  const runtime = fakeRuntime();
  const cri = withSharedRemovals(runtime.client);
  const remove = (containerId: string) => cri.runtime.removeContainer({ containerId });
  const outcomes = (ids: string[]) => Promise.allSettled(ids.map(remove));
  const told = async (ids: string[]) => (await outcomes(ids)).map(({ status }) => status);
  const removals = () => runtime.calls.filter(({ method }) => method === 'removeContainer').length;
  runtime.inject('removeContainer', { delayMs: 5, error: new PodwrightError('unavailable', 'away'), times: 1 });
  assert.deepEqual(await told(['a', 'a']), ['rejected', 'rejected']);
  assert.equal(removals(), 1);
  runtime.inject('removeContainer', { delayMs: 5 });
  assert.deepEqual(await told(['a', 'b', 'a']), ['fulfilled', 'fulfilled', 'fulfilled']);
  assert.equal(removals(), 3, 'one each');
});
