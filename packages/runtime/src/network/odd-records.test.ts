/** A FIFO in place of one of the network's records must be harmless, although opening it for reading would block. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { PublishedPortsStore } from './bridge/published-ports.ts';
import { NetworkSource } from './choice/network-source.ts';

async function fifoIn(t: TestContext, name: string): Promise<{ directory: string; path: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-network-'));
  t.after(() => rmSync(directory, { recursive: true }));
  await runChecked('mkfifo', [join(directory, name)]);
  return { directory, path: join(directory, name) };
}

test('a FIFO is not read as a saved network choice, and the next choice replaces it', {
  timeout: 10_000,
}, async (t) => {
  const { directory, path: record } = await fifoIn(t, 'choice.json');
  mkdirSync(join(directory, 'net.d'));
  const network = { directory: join(directory, 'net.d'), mode: 'keep', bridge: 'pwunit0' } as const;
  await new NetworkSource({ ...network, record, logger: silentLogger }).begin();
  assert.deepEqual(JSON.parse(readFileSync(record, 'utf8')), { use: 'bridge' });
});

test('a FIFO publishes no ports, and can be withdrawn', { timeout: 10_000 }, async (t) => {
  const { directory } = await fifoIn(t, 'sandbox.json');
  const store = new PublishedPortsStore(directory, silentLogger);
  assert.deepEqual(await store.requested(), [[]]);
  await store.delete('sandbox');
  assert.deepEqual(await store.ids(), []);
});
