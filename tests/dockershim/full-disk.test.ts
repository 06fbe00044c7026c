import assert from 'node:assert/strict';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isErrno } from '@podwright/base';
import { openShim, podConfig, remains, startPlace } from './sandbox-place.fixture.ts';

/** Writes a file until there is no room. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (const bytes of [1 << 20, 4096, 1]) {
      const block = Buffer.alloc(bytes);
      try {
        for (;;) writeSync(file, block);
      } catch (error) {
        if (!isErrno(error, 'ENOSPC')) throw error;
      }
    }
  } finally {
    closeSync(file);
  }
}

test("a full disk of Docker's is an error that says so and leaves nothing, and room is all that is missing", async () => {
  const started = await startPlace({ diskBytes: 64 << 20 });
  const shim = await openShim(started.place);
  try {
    const before = await shim.run(podConfig('before'));
    const ballast = join(started.engine.scratch, 'data/ballast');
    fill(ballast);
    await assert.rejects(shim.run(podConfig('full')), {
      code: 'resource_exhausted',
      message: /no space left on device/,
    });
    assert.deepEqual(
      (await shim.list()).map(({ id }) => id),
      [before],
    );
    await shim.stop(before);
    rmSync(ballast);
    await shim.remove(before);
    const after = await shim.run(podConfig('full'));
    await shim.stop(after);
    await shim.remove(after);
    assert.deepEqual(await remains(started.place), []);
  } finally {
    shim.close();
    await started.end();
  }
});
