import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { fakeRuntime } from './dependencies.fixture.ts';
import { withSharedRemovals } from './shared-removals.ts';

test('concurrent removals of a container share one call and its outcome', async () => {
  const runtime = fakeRuntime();
  const cri = withSharedRemovals(runtime.client);
  const remove = (containerId: string) => cri.runtime.removeContainer({ containerId });
  const outcomes = (ids: string[]) => Promise.allSettled(ids.map(remove));
  const statusesOf = async (ids: string[]) => (await outcomes(ids)).map(({ status }) => status);
  const removals = () => runtime.calls.filter(({ method }) => method === 'removeContainer').length;
  runtime.inject('removeContainer', { delayMs: 5, error: new PodwrightError('unavailable', 'away'), times: 1 });
  assert.deepEqual(await statusesOf(['a', 'a']), ['rejected', 'rejected']);
  assert.equal(removals(), 1);
  runtime.inject('removeContainer', { delayMs: 5 });
  assert.deepEqual(await statusesOf(['a', 'b', 'a']), ['fulfilled', 'fulfilled', 'fulfilled']);
  assert.equal(removals(), 3, 'one per container');
});
