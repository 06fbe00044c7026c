import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { forgetDeleted, forgetTaken, leftRecords, recordRun, takeOver } from './run-records.ts';
import type { AppliedObject } from './run-session.ts';

const pod = (name: string, uid: string, action: AppliedObject['action'] = 'created'): AppliedObject => ({
  ...{ kind: 'Pod', namespace: 'default', name, uid, action },
});

test('what a process has made is left once it is gone, however its number is used by then', async (t) => {
  const directory = mkdtempSync('/tmp/run-records-');
  t.after(() => rmSync(directory, { recursive: true }));
  const record = { objects: [pod('web', 'u1')], startedNode: true };
  const own = recordRun(directory, record);
  const [name = ''] = readdirSync(directory);
  assert.deepEqual(leftRecords(directory), []);

  const reused = join(directory, `run-${process.pid}-1.json`);
  renameSync(join(directory, name), reused);
  assert.deepEqual(leftRecords(directory), [{ ...record, path: reused }]);
  const child = spawn('sleep', ['1000']);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  const dead = join(directory, `run-${child.pid}-${name.split('-')[2]!}`);
  renameSync(reused, dead);
  assert.deepEqual(leftRecords(directory), [{ ...record, path: dead }]);

  forgetTaken([{ objects: [pod('web', 'u1'), pod('b', 'u2')], startedNode: true, path: dead }], [pod('b', 'u2')]);
  assert.deepEqual(leftRecords(directory), [{ ...record, path: dead }]);
  writeFileSync(dead, JSON.stringify({ ...record, objects: [...record.objects, pod('b', 'u2')] }));
  forgetDeleted(directory, [{ kind: 'Pod', namespace: 'default', name: 'b' }]);
  assert.deepEqual(leftRecords(directory), [{ ...record, path: dead }]);
  forgetDeleted(directory, [{ kind: 'Pod', namespace: 'default', name: 'web' }]);
  assert.deepEqual(readdirSync(directory), []);
  writeFileSync(dead, JSON.stringify(record));
  forgetTaken(leftRecords(directory), record.objects);
  assert.deepEqual(readdirSync(directory), []);
  writeFileSync(dead, '{"objects":');
  assert.deepEqual(leftRecords(directory), [], 'half a record');
  rmSync(dead);
  own[Symbol.dispose]();
  assert.deepEqual(leftRecords(join(directory, 'missing')), []);
});

test('a ConfigMap, which has no UID, is taken over only beside a pod of the same run', () => {
  const settings = (action: AppliedObject['action']): AppliedObject => ({
    ...{ kind: 'ConfigMap', namespace: 'default', name: 'settings', action },
  });
  const left = [{ objects: [settings('created'), pod('web', '1')], startedNode: true }];
  const again = takeOver([settings('unchanged'), pod('web', '2')], left);
  assert.deepEqual(again.taken, [], 'somebody has made it anew since the pod was deleted');
  assert.equal(again.startedNode, false);
  const beside = [settings('unchanged'), pod('web', '1', 'unchanged')];
  assert.deepEqual(takeOver(beside, left).taken, beside);
});

test('a record is gone with its run', (t) => {
  const directory = mkdtempSync('/tmp/run-records-');
  t.after(() => rmSync(directory, { recursive: true }));
  recordRun(directory, { objects: [], startedNode: false })[Symbol.dispose]();
  assert.deepEqual(readdirSync(directory), []);
});

test('what stands as a killed run has made it is taken over, and nothing else', () => {
  const left = [{ objects: [pod('a', '1'), pod('b', '2'), pod('c', '3')], startedNode: false }];
  const applied = [pod('a', '1', 'unchanged'), pod('b', '9', 'unchanged'), pod('c', '4', 'replaced'), pod('d', '5')];
  const { objects, taken, startedNode } = takeOver(applied, left);
  assert.equal(startedNode, false);
  assert.deepEqual(taken, [applied[0]]);
  assert.deepEqual(
    objects.map(({ action }) => action),
    ['created', 'unchanged', 'replaced', 'created'],
  );
});
