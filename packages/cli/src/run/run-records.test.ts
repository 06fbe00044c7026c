import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { adoptLeftovers, dropAdopted, dropDeleted, leftoverRecords, recordRun } from './run-records.ts';
import type { AppliedObject } from './run-session.ts';

const pod = (name: string, uid: string, action: AppliedObject['action'] = 'created'): AppliedObject => ({
  ...{ kind: 'Pod', namespace: 'default', name, uid, action },
});

test('a record is a leftover once its process has exited, even if the PID is reused', async (t) => {
  const directory = mkdtempSync('/tmp/run-records-');
  t.after(() => rmSync(directory, { recursive: true }));
  const record = { objects: [pod('web', 'u1')], startedNode: true };
  const own = recordRun(directory, record);
  const [name = ''] = readdirSync(directory);
  assert.deepEqual(leftoverRecords(directory), []);

  const reused = join(directory, `run-${process.pid}-1.json`);
  renameSync(join(directory, name), reused);
  assert.deepEqual(leftoverRecords(directory), [{ ...record, path: reused }]);
  const child = spawn('sleep', ['1000']);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  const dead = join(directory, `run-${child.pid}-${name.split('-')[2]!}`);
  renameSync(reused, dead);
  assert.deepEqual(leftoverRecords(directory), [{ ...record, path: dead }]);

  dropAdopted([{ objects: [pod('web', 'u1'), pod('b', 'u2')], startedNode: true, path: dead }], [pod('b', 'u2')]);
  assert.deepEqual(leftoverRecords(directory), [{ ...record, path: dead }]);
  writeFileSync(dead, JSON.stringify({ ...record, objects: [...record.objects, pod('b', 'u2')] }));
  dropDeleted(directory, [{ kind: 'Pod', namespace: 'default', name: 'b' }]);
  assert.deepEqual(leftoverRecords(directory), [{ ...record, path: dead }]);
  dropDeleted(directory, [{ kind: 'Pod', namespace: 'default', name: 'web' }]);
  assert.deepEqual(readdirSync(directory), []);
  writeFileSync(dead, JSON.stringify(record));
  dropAdopted(leftoverRecords(directory), record.objects);
  assert.deepEqual(readdirSync(directory), []);
  writeFileSync(dead, '{"objects":');
  assert.deepEqual(leftoverRecords(directory), [], 'half a record');
  rmSync(dead);
  own[Symbol.dispose]();
  assert.deepEqual(leftoverRecords(join(directory, 'missing')), []);
});

test('a ConfigMap, which has no UID, is adopted only along with a pod of the same run', () => {
  const settings = (action: AppliedObject['action']): AppliedObject => ({
    ...{ kind: 'ConfigMap', namespace: 'default', name: 'settings', action },
  });
  const left = [{ objects: [settings('created'), pod('web', '1')], startedNode: true }];
  const again = adoptLeftovers([settings('unchanged'), pod('web', '2')], left);
  assert.deepEqual(again.adopted, [], 'another client may have created it after the pod was deleted');
  assert.equal(again.startedNode, false);
  const together = [settings('unchanged'), pod('web', '1', 'unchanged')];
  assert.deepEqual(adoptLeftovers(together, left).adopted, together);
});

test('a record is removed with its run', (t) => {
  const directory = mkdtempSync('/tmp/run-records-');
  t.after(() => rmSync(directory, { recursive: true }));
  recordRun(directory, { objects: [], startedNode: false })[Symbol.dispose]();
  assert.deepEqual(readdirSync(directory), []);
});

test('only unchanged objects of a killed run are adopted', () => {
  const left = [{ objects: [pod('a', '1'), pod('b', '2'), pod('c', '3')], startedNode: false }];
  const applied = [pod('a', '1', 'unchanged'), pod('b', '9', 'unchanged'), pod('c', '4', 'replaced'), pod('d', '5')];
  const { objects, adopted, startedNode } = adoptLeftovers(applied, left);
  assert.equal(startedNode, false);
  assert.deepEqual(adopted, [applied[0]]);
  assert.deepEqual(
    objects.map(({ action }) => action),
    ['created', 'unchanged', 'replaced', 'created'],
  );
});
