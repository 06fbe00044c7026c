import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { type CgroupHierarchy, discoverCgroups, startByFork } from '@podwright/host';
import { startWithMigration } from './start-with-migration.ts';

async function startIn(hierarchy: CgroupHierarchy): Promise<void> {
  const start = startWithMigration(startByFork, hierarchy);
  const child = start('true', [], { env: process.env, stdio: ['ignore', 'ignore', 'ignore'] });
  await once(child as ChildProcess, 'close');
}

test('starting a program migrates this process to its current cgroup', async (t) => {
  const mountPoint = mkdtempSync(join(tmpdir(), 'podwright-migration-'));
  t.after(() => rmSync(mountPoint, { recursive: true }));
  const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n');
  for (const line of lines) {
    const [, names, path] = line.split(':') as [string, string, string];
    const tree = { version: names === '' ? 2 : 1, mountPoint, controllers: names.split(',') } as const;
    const file = join(mountPoint, path, 'cgroup.procs');
    await mkdir(join(mountPoint, path), { recursive: true });
    await startIn({ mode: 'hybrid', trees: [tree] });
    const written = async () => (await readFile(file, 'utf8').catch(() => '')) === String(process.pid) || undefined;
    await waitFor(written, { intervalMs: 2, signal: AbortSignal.timeout(10_000) });
    rmSync(file);
  }
});

test('the migration does not change the cgroup, and a failed write is ignored', async () => {
  const before = readFileSync('/proc/self/cgroup', 'utf8');
  await startIn(await discoverCgroups());
  assert.equal(readFileSync('/proc/self/cgroup', 'utf8'), before);
  await startIn({ mode: 'v2', trees: [{ version: 2, mountPoint: '/nowhere', controllers: [] }] });
  await startIn({ mode: 'v1', trees: [] });
});

test('programs started at the same time share one migration, and later ones cause another', async (t) => {
  const mountPoint = mkdtempSync(join(tmpdir(), 'podwright-migration-'));
  t.after(() => rmSync(mountPoint, { recursive: true }));
  const [, names, ...path] = readFileSync('/proc/self/cgroup', 'utf8').split('\n', 1)[0]!.split(':') as [
    string,
    string,
  ];
  const directory = join(mountPoint, path.join(':'));
  await mkdir(directory, { recursive: true });
  execFileSync('mkfifo', [join(directory, 'cgroup.procs')]); // the write blocks until the test reads
  const tree = { version: names === '' ? 2 : 1, mountPoint, controllers: names.split(',') } as const;
  const starter = startWithMigration(startByFork, { mode: 'hybrid', trees: [tree] });
  for (let round = 0; round < 2; round++) {
    const options = { env: process.env, stdio: ['ignore' as const] };
    for (let program = 0; program < 3; program++) await once(starter('true', [], options) as ChildProcess, 'close');
    assert.equal(await readFile(join(directory, 'cgroup.procs'), 'utf8'), String(process.pid));
    await new Promise(setImmediate);
  }
});
