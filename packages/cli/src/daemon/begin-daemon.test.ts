import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodePaths } from '../settings/node-paths.ts';
import { beginDaemon } from './begin-daemon.ts';

test('a state directory with a path too long for sockets is rejected before it is created', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'pwc-daemon-'));
  context.after(() => rmSync(root, { recursive: true }));
  const paths = nodePaths({ root, state: join(root, 'x'.repeat(98 - root.length - 1)) });
  assert.throws(() => beginDaemon({ ...paths, log_level: 'info', fast_paths: true }), {
    code: 'invalid_argument',
    message: /^listen on .*node\.sock: the path is too long \(Linux allows 107 bytes for a socket\)/,
  });
  assert.deepEqual(readdirSync(root), []);
});
