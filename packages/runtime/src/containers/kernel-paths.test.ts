import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { errorMessage } from '@podwright/base';
import { checkKernelDirectories } from './kernel-paths.ts';
import { resolveDestinations } from './resolve-mounts.ts';

const rootfs = mkdtempSync(join(tmpdir(), 'kernel-paths-'));
before(() => {
  for (const name of ['proc', 'etc', 'data']) mkdirSync(join(rootfs, name));
  for (const [name, target] of [
    ['p', '/proc'],
    ['d', 'dev'],
    ['s', '/sys'],
    ['root', 'etc/..'],
    ['up', '../../../proc'],
    ['self', 'p/self'],
    ['procfs', 'data'],
  ] as const)
    symlinkSync(target, join(rootfs, name));
});
after(() => rmSync(rootfs, { recursive: true }));

const PLAIN = { readonly: false, recursiveReadOnly: false, propagation: 'private', selinuxRelabel: false } as const;

/** Returns the error message with which the mount is rejected; '' if it is accepted. */
const refusal = (destination: string, source = '/tmp', isImageVolume = false) =>
  resolveDestinations(rootfs, [{ ...PLAIN, destination, source, isImageVolume }]).then(() => '', errorMessage);

test('mounts over /proc are rejected, whatever path leads there', async () => {
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
    assert.match(await refusal(path), /^mount \/tmp at .*: that is \/proc.*only the kernel.*mount it elsewhere$/, path);
  assert.match(await refusal('/p/sys', '/x', true), /^mount a volume of the image at \/p\/sys: that is \/proc\/sys,/);
});

test('mounts over the root, over /dev, and through a link into /dev or /sys are refused', async () => {
  for (const [path, message] of [
    ['/', /that is \/, the root of the container/],
    ['/root', /that is \/, the root of the container/],
    ['/dev', /that is \/dev, where only the host's/],
    ['/d', /that is \/dev, where only the host's/],
    ['/d/null', /that is \/dev\/null, to which a symbolic link leads/],
    ['/s/fs/cgroup', /that is \/sys\/fs\/cgroup, to which a symbolic link leads/],
  ] as const)
    assert.match(await refusal(path), message, path);
});

test('mounts elsewhere, mounts over files emulated by lxcfs, and the host’s /proc and /dev are accepted', async () => {
  const paths = ['/data', '/procfs', '/proc2', '/etc/proc', '/not/there', '/proc/meminfo', '/p/uptime'];
  for (const path of [...paths, '/dev/shm', '/d/shm', '/dev/x', '/sys', '/sys/fs/cgroup'])
    assert.equal(await refusal(path), '', path);
  for (const path of ['/proc', '/dev']) assert.equal(await refusal(path, path), '');
});

test('an image is refused if its /dev, /proc or /sys is a symbolic link', async () => {
  await checkKernelDirectories(rootfs, 'app');
  symlinkSync('/tmp', join(rootfs, 'dev'));
  await assert.rejects(checkKernelDirectories(rootfs, 'app'), {
    code: 'invalid_argument',
    message: 'use image app: its /dev is a symbolic link; it must be a directory, or not exist',
  });
});
