/** The script that starts daemons cannot import what daemons that are started otherwise are given. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DAEMON_FLAGS } from '../../packages/cli/src/daemon/daemon-flags.ts';

test('bin/podwright starts a daemon with the flags that one in the background has', () => {
  const script = readFileSync(new URL('../../bin/podwright', import.meta.url), 'utf8');
  const [, flags] = /^ +node .*\)\n +flags='(--[^']+)'/m.exec(script) ?? [];
  assert.deepEqual(flags?.split(' '), DAEMON_FLAGS);
});
