import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { runChecked } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { REFUSED_AT_SHUTDOWN, SHUT_DOWN } from '../kubecontainer/sync-result.ts';
import { StatusManager } from './status-manager.ts';
import { type StatusRecord, StatusRecords } from './status-records.ts';

function scratch(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-records-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const running: StatusRecord = { namespace: 'default', name: 'web', status: { phase: 'Running', reason: 'first' } };

test('the last saved record of each pod is read after a restart, and deleted records are not', async (context) => {
  const directory = scratch(context);
  const records = new StatusRecords(directory, silentLogger);
  records.save('a', running);
  records.save('a', { ...running, status: { phase: 'Running' } });
  records.save('b', running);
  await records.flush();
  records.delete('b');
  await records.flush();
  assert.deepEqual(
    [...(await new StatusRecords(directory, silentLogger).read())],
    [['a', { ...running, status: { phase: 'Running' } }]],
  );
});

test('a pod that is added again after its deletion starts over, even if its record remains', async (context) => {
  const directory = scratch(context);
  const records = new StatusRecords(directory, silentLogger);
  const metadata = { namespace: 'default', name: 'web', uid: 'a' };
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } };
  const going = { ...pod, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  new StatusManager(new Map(), records).set(going, { phase: 'Failed' });
  await records.flush();
  const next = new StatusManager(await records.read());
  assert.equal(next.lastKnown(going)?.phase, 'Failed');
  assert.equal(next.lastKnown(pod), undefined);
});

test('no files remain if there are no pods', async (context) => {
  const directory = join(scratch(context), 'statuses');
  const records = new StatusRecords(directory, silentLogger);
  assert.equal((await records.read()).size, 0);
  records.save('a', running);
  await records.close();
  assert.deepEqual(readdirSync(directory), ['a.json']);
  records.delete('a');
  await records.close();
  assert.equal(existsSync(directory), false);
  await records.close();
});

test('a static pod that was terminated or rejected by a node shutdown starts over, an API server pod does not', async (context) => {
  const records = new StatusRecords(scratch(context), silentLogger);
  const { disruption: _, ...ended } = SHUT_DOWN;
  for (const why of [ended, REFUSED_AT_SHUTDOWN]) {
    const known = { ...running, status: { phase: 'Failed' as const, ...why } };
    records.save('a', known);
    await records.flush();
    const next = new StatusManager(await records.read());
    const metadata = { name: known.name, namespace: known.namespace, uid: 'a' };
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } };
    assert.equal(next.lastKnown(pod), undefined);
    const annotations = { 'kubernetes.io/config.source': 'api' };
    assert.equal(next.lastKnown({ ...pod, metadata: { ...metadata, annotations } })?.phase, 'Failed');
  }
});

test('failed writes are retried until they succeed, with the last record of each pod', async (context) => {
  const directory = join(scratch(context), 'statuses');
  writeFileSync(directory, '');
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (_fields: object, message: string) => void warnings.push(message) };
  const records = new StatusRecords(directory, logger);
  records.save('a', running);
  await records.flush();
  records.save('a', { ...running, status: { phase: 'Failed' } });
  await records.flush();
  assert.equal(warnings.length, 1);
  rmSync(directory);
  const atMost = AbortSignal.timeout(20_000);
  const written = async () => (await new StatusRecords(directory, silentLogger).read()).get('a')?.status.phase;
  await waitFor(async () => ((await written()) === 'Failed' ? true : undefined), { intervalMs: 50, signal: atMost });
  await records.close();
});

for (const failing of ['the first of them', 'both'])
  test(`no older status is written after the end of a pod if two flushes overlap and ${failing} fail`, async (context) => {
    const directory = join(scratch(context), 'statuses');
    writeFileSync(directory, '');
    const unblock = () => rmSync(directory, { force: true });
    const warn = () => failing === 'both' || unblock();
    const records = new StatusRecords(directory, { ...silentLogger, warn });
    records.save('a', running);
    records.save('b', running);
    const first = records.flush();
    records.save('a', { ...running, status: { phase: 'Succeeded' } });
    records.delete('b');
    await Promise.all([first, records.flush()]);
    if (failing === 'both') unblock();
    await records.flush();
    await records.close();
    const written = await new StatusRecords(directory, silentLogger).read();
    assert.deepEqual(
      [...written].map(([uid, { status }]) => `${uid} ${status.phase}`),
      ['a Succeeded'],
    );
  });

test('the record of a terminated pod is written at once', async (context) => {
  const directory = scratch(context);
  const records = new StatusRecords(directory, silentLogger);
  records.save('a', { ...running, status: { phase: 'Failed' } });
  await records.flush();
  assert.deepEqual(readdirSync(directory), ['a.json']);
});

test('invalid records are ignored and removed', { timeout: 10_000 }, async (context) => {
  const directory = scratch(context);
  const broken = { 'a.json': '{', 'b.json': 'null', 'c.json': '{"namespace":"n","name":"w","status":{"phase":"Up"}}' };
  const lists = { 'd.json': JSON.stringify({ ...running, status: { phase: 'Running', conditions: {} } }), 'e.tmp': '' };
  for (const [name, text] of Object.entries({ ...broken, ...lists, 'f.json': 'x'.repeat(5 << 20) }))
    writeFileSync(join(directory, name), text);
  mkdirSync(join(directory, 'g.json'));
  symlinkSync('/dev/zero', join(directory, 'h.json'));
  await runChecked('mkfifo', [join(directory, 'i.json')]);
  writeFileSync(join(directory, 'good.json'), JSON.stringify(running));
  assert.deepEqual([...(await new StatusRecords(directory, silentLogger).read()).keys()], ['good']);
  assert.deepEqual(readdirSync(directory), ['good.json']);
});
