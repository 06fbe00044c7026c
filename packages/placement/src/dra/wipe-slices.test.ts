import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, sleep, waitFor } from '@podwright/base';
import { SliceWiper } from './wipe-slices.ts';

function start(keptMs: number) {
  const asked: string[] = [];
  let failures = 1;
  const client = {
    deleteCollection: async (_: unknown, { fieldSelector }: { fieldSelector?: string }) => {
      if (failures-- > 0) throw new Error('not now');
      asked.push(fieldSelector ?? '');
    },
  };
  const wiper = new SliceWiper({ client: client as never, nodeName: 'n', logger: silentLogger, keptMs });
  return {
    wiper,
    asked,
    until: (count: number) =>
      waitFor(() => asked.length === count || undefined, { intervalMs: 1, signal: AbortSignal.timeout(30_000) }),
  };
}

test('the slices of all drivers go at the start, and those of a driver when it has been away for long', async (context) => {
  const { wiper, asked, until } = start(10);
  context.after(() => wiper.stop());
  wiper.start();
  await until(1);
  wiper.driverChanged('d', true);
  wiper.driverChanged('d', false);
  await until(2);
  assert.deepEqual(asked, ['spec.nodeName=n', 'spec.driver=d,spec.nodeName=n']);
});

test('a driver that comes back in time keeps its slices', async (context) => {
  const { wiper, asked } = start(20);
  context.after(() => wiper.stop());
  wiper.driverChanged('d', false);
  wiper.driverChanged('d', true);
  await sleep(40);
  assert.deepEqual(asked, []);
});
