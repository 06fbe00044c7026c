/** The script bin/podwright repeats the daemons' flags, because it cannot import them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { daemonFlags, PROCESS_FLAGS } from '../../packages/cli/src/daemon/daemon-flags.ts';

test('bin/podwright starts a daemon with the same flags as a background daemon', () => {
  const script = readFileSync(new URL('../../bin/podwright', import.meta.url), 'utf8');
  const flagsOf = (command: string) =>
    new RegExp(`^ +(?:\\w+ \\| )*${command}\\b.*\\)\\n +flags='(--[^']+)'`, 'm').exec(script)?.[1]?.split(' ');
  for (const command of ['node', 'runtime', 'dockershim', 'apiserver', 'controllers', 'proxy', 'kubelet'])
    assert.deepEqual(flagsOf(command), daemonFlags([command]), command);
  assert.ok(script.includes(`exec "$node" ${PROCESS_FLAGS.join(' ')} $flags "`));
});
