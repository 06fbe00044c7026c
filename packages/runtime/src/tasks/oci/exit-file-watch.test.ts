import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { ExitFileWatch } from './exit-file-watch.ts';

test('exits are detected even while the directory cannot be watched, and by the watch once it can', async (context) => {
  const parent = mkdtempSync(join(tmpdir(), 'pw-exits-'));
  const directory = join(parent, 'exits');
  context.after(() => rmSync(parent, { recursive: true }));
  let monitorPid = 2 ** 22 + 1; // above the kernel's maximum: the monitor is dead
  let checks = 0;
  const check = async (id: string) => {
    checks++;
    return id === 'ended' ? { exit: { exitCode: 3 } as never } : { monitorPid };
  };
  const watch = new ExitFileWatch({ directory, check, logger: silentLogger });
  context.after(() => watch.close());
  const ended = Promise.withResolvers<unknown>();
  watch.add('ended', ended.resolve);
  assert.deepEqual(await ended.promise, { exitCode: 3 });

  watch.add('running', () => undefined);
  const signal = AbortSignal.timeout(20_000);
  const until = (holds: () => boolean) => waitFor(() => holds() || undefined, { intervalMs: 5, signal });
  await until(() => checks >= 3); // when each is added, and by the timer
  monitorPid = process.pid; // from now on the timer checks twice a minute
  mkdirSync(directory);
  const before = checks;
  await until(() => {
    writeFileSync(join(directory, 'running'), '');
    return checks > before + 5;
  });
});
