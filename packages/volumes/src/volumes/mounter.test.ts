import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ProgramMounter } from './mounter.ts';

test('mounts below a directory are found, with buffers of at most a few times the size of the mount table', async () => {
  const mounter = new ProgramMounter();
  assert.ok((await mounter.mountsBelow('/proc')).includes('/proc'));
  const tableBytes = readFileSync('/proc/self/mountinfo', 'utf8').length;
  const before = process.memoryUsage().arrayBuffers;
  assert.deepEqual(await mounter.mountsBelow('/nonexistent'), []);
  assert.ok(!(await mounter.mountsBelow('/usr/bin')).includes('/usr'));
  const takenBytes = process.memoryUsage().arrayBuffers - before;
  assert.ok(takenBytes < 8 * tableBytes + 65_536, `${takenBytes} bytes for a table of ${tableBytes}`);
});
