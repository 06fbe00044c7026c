import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { discoverCgroups } from './hierarchy.ts';
import { anticipateMigration } from './migration.ts';

test('this process is moved to the cgroup that it is in', async (t) => {
  const mountPoint = mkdtempSync(join(tmpdir(), 'podwright-migration-'));
  t.after(() => rmSync(mountPoint, { recursive: true }));
  const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n');
  for (const line of lines) {
    const [, names, path] = line.split(':') as [string, string, string];
    const tree = { version: names === '' ? 2 : 1, mountPoint, controllers: names.split(',') } as const;
    const file = join(mountPoint, path, 'cgroup.procs');
    await mkdir(join(mountPoint, path), { recursive: true });
    await anticipateMigration({ mode: 'hybrid', trees: [tree] });
    assert.equal(await readFile(file, 'utf8'), String(process.pid), line);
    rmSync(file);
  }
});

test('it stays where it is, and what cannot be written is no error', async () => {
  const before = readFileSync('/proc/self/cgroup', 'utf8');
  await anticipateMigration(await discoverCgroups());
  assert.equal(readFileSync('/proc/self/cgroup', 'utf8'), before);
  await anticipateMigration({ mode: 'v2', trees: [{ version: 2, mountPoint: '/nowhere', controllers: [] }] });
  await anticipateMigration({ mode: 'v1', trees: [] });
});
