import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { openDatabase } from '@podwright/metadata';
import type { System } from '@podwright/system';
import { openSnapshotter } from './open-snapshotter.ts';

const failure = (code: string) => Object.assign(new Error(code), { code });

/** A kernel without `volatile`, and a disk without space for the work directory of an overlay. */
const fullSystem = {
  mount(_target: string, { type, data = '' }: { type?: string; data?: string }) {
    if (type !== 'overlay') return;
    const options = data.split(',');
    const directories = options.flatMap((option) => /^lowerdir=(.*)$/.exec(option)?.[1]?.split(':') ?? []);
    if (options.includes('volatile')) throw failure('EINVAL');
    if (directories.length === 0 || !directories.every((directory) => existsSync(directory))) throw failure('ENOENT');
    if (options.some((option) => option.startsWith('upperdir='))) throw failure('ENOSPC');
  },
} as unknown as System;

test('the mount options of overlays are found on a full disk that has only ever had overlays', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'podwright-open-'));
  t.after(() => rmSync(root, { recursive: true }));
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  mkdirSync(join(root, 'overlayfs/trash'), { recursive: true });
  const options = { root, database, system: fullSystem, logger: silentLogger };
  const { snapshotter, reason } = openSnapshotter({ ...options, kind: 'auto' });
  await snapshotter.close();
  assert.equal(snapshotter.name, 'overlayfs');
  assert.equal(reason, `overlayfs works on ${root} with index=off`);
});
