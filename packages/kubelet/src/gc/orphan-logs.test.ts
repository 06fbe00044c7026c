import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { removeLogsOf } from './orphan-logs.ts';

test('logs of deleted pods are removed, and logs of other kubelets are kept', async (context) => {
  const logs = mkdtempSync(join(tmpdir(), 'podwright-orphans-'));
  context.after(() => rmSync(logs, { recursive: true }));
  for (const name of ['default_web_u1', 'default_web_u2', 'u1', 'other']) {
    mkdirSync(join(logs, name, 'main'), { recursive: true });
    writeFileSync(join(logs, name, 'main', '0.log'), 'a line\n');
  }
  await removeLogsOf(logs, [], silentLogger);
  assert.equal(readdirSync(logs).length, 4);
  await removeLogsOf(logs, ['u1', 'u3'], silentLogger);
  assert.deepEqual(readdirSync(logs).sort(), ['default_web_u2', 'other', 'u1']);
  await removeLogsOf(join(logs, 'nowhere'), ['u1'], silentLogger);
});
