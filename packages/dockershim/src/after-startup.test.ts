import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError, silentLogger } from '@podwright/base';
import { type RuntimeHandlers, RuntimeService } from '@podwright/cri';
import { afterStartup } from './after-startup.ts';
import { EngineStartup } from './engine-startup.ts';

const context = { signal: AbortSignal.timeout(30_000), service: '', method: '' };

test('unary and streaming calls wait for startup, and fail with its error', async () => {
  let isThere = false;
  const work = async () => {
    if (!isThere) throw new PodwrightError('unavailable', 'no Engine');
  };
  const verbs: Pick<RuntimeHandlers, 'listPodSandbox' | 'streamPodSandboxes'> = {
    listPodSandbox: async () => ({ items: [{ id: 'one' }] }),
    streamPodSandboxes: async function* () {
      yield { podSandboxes: [{ id: 'one' }] };
    },
  };
  const { listPodSandbox, streamPodSandboxes } = afterStartup(
    RuntimeService,
    verbs,
    new EngineStartup(work, silentLogger),
  );
  const list = () => listPodSandbox({} as never, context);
  const stream = async () => {
    for await (const first of streamPodSandboxes({} as never, context)) return first;
  };
  for (const call of [list, stream]) await assert.rejects(call(), { code: 'unavailable', message: 'no Engine' });
  isThere = true;
  assert.deepEqual(await stream(), { podSandboxes: [{ id: 'one' }] });
  assert.deepEqual(await list(), { items: [{ id: 'one' }] });
});
