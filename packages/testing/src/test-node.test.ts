import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestNode } from './test-node.ts';

test('if the program is missing the error names it and how to specify another one', async () => {
  await assert.rejects(startTestNode({ command: ['no-such-podwright'] }), {
    code: 'not_found',
    message: 'start the node: no-such-podwright not found; install Podwright, or set `command` to its path',
  });
});

/** A fake `podwright` whose `node` command keeps running, and whose other commands print their last argument. */
const PROGRAM = `#!/bin/sh
for last; do :; done
[ "$last" != node ] || exec sleep 60
echo "$last"
`;

test('the result of a command has only the declared fields', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'pwr-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const program = join(directory, 'podwright');
  writeFileSync(program, PROGRAM, { mode: 0o755 });
  const node = await startTestNode({ command: [program] });
  try {
    assert.deepEqual(await node.run('ps'), { exitCode: 0, stdout: 'ps\n', stderr: '' });
  } finally {
    await node.kill();
  }
  assert.equal(existsSync(node.directory), false);
});
