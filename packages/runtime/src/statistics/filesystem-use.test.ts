import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMountinfo } from '@podwright/system';
import { blockDeviceName, deviceOf, FilesystemOf } from './filesystem-use.ts';

const mounts = parseMountinfo(
  Buffer.from(
    [
      '22 1 8:1 / / rw - ext4 /dev/sda1 rw',
      '23 22 8:2 / /var/lib rw - xfs /dev/sdb1 rw',
      '24 22 8:3 / /var/lib rw - xfs /dev/sdc1 rw',
      '25 22 8:4 / /var/library rw - xfs /dev/sdd1 rw',
    ].join('\n'),
  ),
);

test('the device of a path is that of the deepest mount above it, or of the newest one at the same path', () => {
  const check = (path: string, device: string) => assert.equal(deviceOf(path, mounts), device, path);
  check('/etc', '/dev/sda1');
  check('/var', '/dev/sda1');
  check('/var/lib', '/dev/sdc1');
  check('/var/lib/podwright', '/dev/sdc1');
  check('/var/library/x', '/dev/sdd1');
});

test('a file system reports its size, and a device without a name is reported by number', async () => {
  const { device: _, ...nothing } = await new FilesystemOf('/proc/self').read();
  assert.deepEqual(nothing, { sizeBytes: 0, inodes: 0, freeInodes: 0 });
  assert.ok((await new FilesystemOf('/').read()).sizeBytes > 0);
  assert.equal(await blockDeviceName({ major: 4094, minor: 99 }), '4094:99');
});
