import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { errorCode } from '@podwright/base';
import { TaskFiles, type TaskRecord } from './task-files.ts';

const directory = mkdtempSync(join(tmpdir(), 'task-files-'));
after(() => rmSync(directory, { recursive: true }));
const files = new TaskFiles(directory);
mkdirSync(files.records);

const record: TaskRecord = {
  id: 'a',
  bundle: '/bundles/a',
  program: { name: 'runc', path: '/usr/sbin/runc', stateFormat: 'runc' },
  cgroupsPath: '/pods/a',
  terminal: false,
  stdin: true,
  stdinOnce: false,
  hooks: false,
};

test('a record is read back unchanged, and its file has a version', () => {
  files.write(record);
  assert.deepEqual(files.read('a'), record);
  assert.equal((JSON.parse(readFileSync(join(files.records, 'a.json'), 'utf8')) as { version: number }).version, 1);
  assert.equal(files.read('b'), undefined);
});

test('records in the previous format can be read: the runtime name implies the state file format', () => {
  const check = (name: string, stateFormat: string | undefined) => {
    const before = { ...record, program: { name, path: `/bin/${name}` } };
    writeFileSync(join(files.records, 'a.json'), JSON.stringify(before));
    assert.deepEqual(files.read('a'), { ...before, program: { ...before.program, stateFormat } });
  };
  check('runc', 'runc');
  check('crun', 'crun');
  check('youki', undefined);
});

test('a damaged record is an error that names its file', () => {
  const path = join(files.records, 'a.json');
  for (const text of ['', '{"id": "a", "bund', '[]', '{"id": "a"}', JSON.stringify({ ...record, version: 2 })]) {
    writeFileSync(path, text);
    assert.throws(
      () => files.read('a'),
      (error) => errorCode(error) === 'data_loss' && String(error).includes(path),
      text,
    );
  }
});
