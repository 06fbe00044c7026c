import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Logger } from '@podwright/base';
import { raiseUserLimits, readUserLimits } from './user-limits.ts';

const INSTANCES = 'fs/inotify/max_user_instances';
const WATCHES = 'fs/epoll/max_user_watches';
const MEMORY = 64_000_000;

/** Creates a directory laid out like /proc/sys, with these values. */
function sysctls(context: TestContext, values: Record<string, number>): string {
  const root = mkdtempSync(join(tmpdir(), 'pw-sysctl-'));
  context.after(() => rmSync(root, { recursive: true }));
  for (const [name, value] of Object.entries(values)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), `${value}\n`);
  }
  return root;
}

function logger(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const log = (level: string) => (fields: { sysctl: string }) => void lines.push(`${level} ${fields.sysctl}`);
  return { logger: { info: log('info'), warn: log('warn') } as unknown as Logger, lines };
}

test('limits are raised according to memory, never lowered, and only once', (context) => {
  const root = sysctls(context, { [INSTANCES]: 128, [WATCHES]: 5_000_000 });
  const { logger: log, lines } = logger();
  raiseUserLimits(log, root, MEMORY);
  raiseUserLimits(log, root, MEMORY);
  assert.deepEqual(lines, ['info fs.inotify.max_user_instances']);
  assert.equal(readFileSync(join(root, INSTANCES), 'utf8'), '1000000');
  assert.equal(readFileSync(join(root, WATCHES), 'utf8'), '5000000\n');
  assert.deepEqual(readUserLimits(root, 2 ** 40), [
    { sysctl: 'fs.inotify.max_user_instances', value: 1_000_000, wanted: 2 ** 31 - 1 },
    { sysctl: 'fs.epoll.max_user_watches', value: 5_000_000, wanted: 2 ** 31 - 1 },
  ]);
});

test('missing limits are skipped and the others raised', (context) => {
  const root = sysctls(context, { [INSTANCES]: 128, [WATCHES]: 1 });
  const { logger: log, lines } = logger();
  rmSync(join(root, INSTANCES));
  raiseUserLimits(log, '/proc/self/fd/none', MEMORY); // a directory without any of them
  assert.deepEqual(lines, []);
  raiseUserLimits(log, root, MEMORY);
  assert.deepEqual(lines, ['info fs.epoll.max_user_watches']);
});
