import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Logger, silentLogger } from '@podwright/base';
import { commitSpec } from '../bundle.ts';
import { rebuildDamagedRecords } from './rebuild-record.ts';
import { TaskFiles, type TaskRecord } from './task-files.ts';

const directory = mkdtempSync(join(tmpdir(), 'rebuild-record-'));
after(() => rmSync(directory, { recursive: true }));
const files = new TaskFiles(join(directory, 'state'));
mkdirSync(files.records, { recursive: true });
const logged: unknown[] = [];
const logger = { ...silentLogger, error: (_fields: object, message: string) => logged.push(message) } as Logger;
const runc = { name: 'runc', path: '/usr/sbin/runc', stateFormat: 'runc' as const };
const crun = { name: 'crun', path: '/usr/bin/crun' };

function damage(id: string): string {
  const path = join(files.records, `${id}.json`);
  writeFileSync(path, '{"version":2,"id":');
  return path;
}

test('a damaged record is rebuilt from the task’s directory and the OCI runtimes’ state', async () => {
  const record: TaskRecord = {
    ...{ id: 'a', bundle: files.bundle('a'), program: runc, cgroupsPath: '/pods/a' },
    ...{ terminal: true, stdin: false, stdinOnce: false, hooks: true },
  };
  const spec = {
    ...{ ociVersion: '1.0.2', root: { path: '/r', readonly: false }, mounts: [], hooks: {} },
    process: { terminal: true, user: { uid: 0, gid: 0 }, args: [], env: [], cwd: '/' },
    linux: { cgroupsPath: record.cgroupsPath, namespaces: [] },
  };
  commitSpec(join(directory, 'caller'), spec);
  mkdirSync(record.bundle, { recursive: true });
  symlinkSync(join(directory, 'caller/config.json'), join(record.bundle, 'config.json'));
  mkdirSync(join(files.runtime(runc).root, 'a'), { recursive: true });
  damage('a');
  await rebuildDamagedRecords(files, [crun, runc], logger);
  assert.deepEqual(files.read('a'), record);
  await rebuildDamagedRecords(files, [crun, runc], logger);
  assert.deepEqual(logged.splice(0), ['rebuilt the damaged record of a task']);
});

test('a damaged record of a task without a spec is left unchanged and logged', async () => {
  const path = damage('b');
  const before = readFileSync(path, 'utf8');
  await rebuildDamagedRecords(files, [crun, runc], logger);
  assert.equal(readFileSync(path, 'utf8'), before);
  assert.deepEqual(logged.splice(0), ['cannot read the record of a task']);
});
