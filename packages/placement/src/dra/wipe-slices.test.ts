import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, sleep, waitFor } from '@podwright/base';
import { SliceWiper } from './wipe-slices.ts';

function start(graceMs: number) {
  const deleted: string[] = [];
  let failures = 1;
  const client = {
    deleteCollection: async (_: unknown, { fieldSelector }: { fieldSelector?: string }) => {
      if (failures-- > 0) throw new Error('not now');
      deleted.push(fieldSelector ?? '');
    },
  };
  const wiper = new SliceWiper({ client: client as never, nodeName: 'n', logger: silentLogger, graceMs });
  return {
    wiper,
    deleted,
    until: (count: number) =>
      waitFor(() => deleted.length === count || undefined, { intervalMs: 1, signal: AbortSignal.timeout(30_000) }),
  };
}

test('slices of all drivers are deleted at startup, and those of a disconnected driver after the grace period', async (context) => {
  const { wiper, deleted, until } = start(10);
  context.after(() => wiper.stop());
  wiper.start();
  await until(1);
  wiper.driverChanged('d', true);
  wiper.driverChanged('d', false);
  await until(2);
  assert.deepEqual(deleted, ['spec.nodeName=n', 'spec.driver=d,spec.nodeName=n']);
});

test('the slices of a driver that re-registers in time are kept', async (context) => {
  const { wiper, deleted } = start(20);
  context.after(() => wiper.stop());
  wiper.driverChanged('d', false);
  wiper.driverChanged('d', true);
  await sleep(40);
  assert.deepEqual(deleted, []);
});
