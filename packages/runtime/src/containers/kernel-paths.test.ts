import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { errorMessage } from '@podwright/base';
import { checkKernelDirectories, checkMountPath } from './kernel-paths.ts';

const rootfs = mkdtempSync(join(tmpdir(), 'kernel-paths-'));
before(() => {
  for (const name of ['proc', 'etc', 'data']) mkdirSync(join(rootfs, name));
  for (const [name, target] of [
    ['p', '/proc'],
    ['up', '../../../proc'],
    ['self', 'p/self'],
    ['procfs', 'data'],
  ] as const)
    symlinkSync(target, join(rootfs, name));
});
after(() => rmSync(rootfs, { recursive: true }));

/** What is said of a mount, '' if nothing. */
const refusal = (destination: string, source?: string) =>
  checkMountPath(rootfs, destination, source).then(() => '', errorMessage);

test('mounts over /proc are refused whatever way leads there', async () => {
  for (const path of [
    '/proc',
    '/proc/',
    '/etc/../proc',
    '/p',
    '/up',
    '/p/sys',
    '/proc/self/attr',
    '/self/attr',
    '/proc/x',
  ])
    assert.match(await refusal(path, '/tmp'), /^mount \/tmp at .*: that is \/proc.*mount it elsewhere$/, path);
  assert.match(await refusal('/p/sys'), /^mount a volume of the image at \/p\/sys: that is \/proc\/sys,/);
});

test('mounts elsewhere, those on files that lxcfs emulates, and the /proc of the host on /proc are not', async () => {
  for (const path of ['/', '/data', '/procfs', '/proc2', '/etc/proc', '/not/there', '/proc/meminfo', '/p/uptime'])
    assert.equal(await refusal(path, '/tmp'), '', path);
  assert.equal(await refusal('/proc', '/proc'), '');
});

test('an image has /dev, /proc and /sys as directories, or not at all', async () => {
  await checkKernelDirectories(rootfs, 'app');
  symlinkSync('/tmp', join(rootfs, 'dev'));
  await assert.rejects(checkKernelDirectories(rootfs, 'app'), {
    code: 'invalid_argument',
    message: 'use image app: its /dev is a symbolic link; it must be a directory, or not be there',
  });
});
