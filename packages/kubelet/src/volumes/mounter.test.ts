import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ProgramMounter } from './mounter.ts';

test('those who ask at once what is mounted share a look, which begins after they asked', async () => {
  let looks = 0;
  const mounter = new ProgramMounter(() => {
    looks++;
    return readFile('/proc/self/mountinfo');
  });
  const asked = Array.from({ length: 200 }, (_, index) =>
    mounter.isMountPoint(index % 2 === 0 ? '/proc' : '/proc/self'),
  );
  assert.deepEqual(new Set(await Promise.all(asked)), new Set([true, false]));
  assert.ok(looks >= 1 && looks <= 20, `${looks} looks`);
});
