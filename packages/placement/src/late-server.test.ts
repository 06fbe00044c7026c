import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, sleep, waitFor, withTimeout } from '@podwright/base';
import { startOnceThereIsSpace } from './late-server.ts';

const full = Object.assign(new Error('ENOSPC: no space left on device, listen'), { code: 'ENOSPC' });

function lateServer(failures: Error[]) {
  const calls = { serve: 0, close: 0 };
  const serve = async () => {
    calls.serve++;
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    return { close: async () => void calls.close++ };
  };
  return { calls, start: () => startOnceThereIsSpace({ serve, consequence: 'x', logger: silentLogger, retryMs: 1 }) };
}

test('a server that fails to start for lack of space starts once there is space', async () => {
  const { calls, start } = lateServer([full, full]);
  const server = await start();
  using signal = withTimeout(undefined, 10_000, 'wait for the start');
  await waitFor(() => calls.serve === 3 || undefined, { intervalMs: 1, signal });
  await server.close();
  assert.deepEqual(calls, { serve: 3, close: 1 });
});

test('a closed server does not start again', async () => {
  const { calls, start } = lateServer(Array.from({ length: 1000 }, () => full));
  await (await start()).close();
  const { serve } = calls;
  await sleep(20);
  assert.deepEqual(calls, { serve, close: 0 });
});

test('any other failure rejects the first start, and ends later ones', async () => {
  const taken = new Error('another kubelet serves the directory');
  await assert.rejects(lateServer([taken]).start(), taken);
  const { calls, start } = lateServer([full, taken]);
  const server = await start();
  await sleep(50);
  await server.close();
  assert.deepEqual(calls, { serve: 2, close: 0 });
});
