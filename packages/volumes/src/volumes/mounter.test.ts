import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readMounts } from '@podwright/system/mountinfo';
import { ProgramMounter } from './mounter.ts';

test('mounts under a directory are found, with buffers no larger than a few times the mount table', async () => {
  const mounter = new ProgramMounter();
  assert.ok((await mounter.mountsBelow('/proc')).includes('/proc'));
  const tableBytes = readFileSync('/proc/self/mountinfo', 'utf8').length;
  const before = process.memoryUsage().arrayBuffers;
  assert.deepEqual(await mounter.mountsBelow('/nonexistent'), []);
  assert.ok(!(await mounter.mountsBelow('/usr/bin')).includes('/usr'));
  const takenBytes = process.memoryUsage().arrayBuffers - before;
  assert.ok(takenBytes < 8 * tableBytes + 65_536, `${takenBytes} bytes for a table of ${tableBytes}`);
});

test('a tmpfs that fails with and without noswap does not turn noswap off for others', async () => {
  const calls: string[] = [];
  const mount = (target: string, data: string) => {
    calls.push(`${target} ${data}`);
    if (target === '/missing') throw new Error('mount /missing: ENOENT');
  };
  const mounter = new ProgramMounter({ mount, detach: () => undefined });
  await assert.rejects(mounter.mountTmpfs('/missing', []), /ENOENT/);
  await mounter.mountTmpfs('/t', []);
  assert.deepEqual(calls, ['/missing noswap', '/missing ', '/t noswap']);
});

test('a tmpfs is mounted by system calls without starting a program, with or without noswap', async () => {
  const calls: string[] = [];
  const mount = (target: string, data: string) => {
    calls.push(`${target} ${data}`);
    if (data.includes('noswap')) throw new Error('mount /t: EINVAL');
  };
  const mounter = new ProgramMounter({ mount, detach: (target) => void calls.push(`detach ${target}`) });
  await mounter.mountTmpfs('/t', ['size=1']);
  await mounter.mountTmpfs('/u', []);
  // a tmpfs mount of the host, which the fake `detach` does not really unmount
  const own = ['/dev', '/dev/shm', '/run'].map((path) =>
    readMounts().findLast(({ mountPoint }) => mountPoint === path),
  );
  const tmpfs = own.find((mount) => mount?.type === 'tmpfs');
  if (tmpfs !== undefined) await mounter.unmount(tmpfs.mountPoint);
  const detached = tmpfs === undefined ? [] : [`detach ${tmpfs.mountPoint}`];
  assert.deepEqual(calls, ['/t size=1,noswap', '/t size=1', '/u ', ...detached]);
  await assert.rejects(mounter.unmount('/proc/self/fd/none'), /umount/);
});
