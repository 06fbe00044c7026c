import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { DetachKeys, terminalName } from './terminal.ts';

/** Passes the bytes through a detach key filter. Returns its output, and how often the detach keys were recognized. */
async function typed(...chunks: string[]): Promise<{ passed: string; detached: number }> {
  let detached = 0;
  const keys = new DetachKeys(() => detached++);
  for (const chunk of chunks) keys.write(chunk);
  keys.end();
  return { passed: (await buffer(keys)).toString(), detached };
}

test('Ctrl-P Ctrl-Q detaches, in one chunk or several, and all other keys are passed through', async () => {
  assert.deepEqual(await typed('ls\r'), { passed: 'ls\r', detached: 0 });
  assert.deepEqual(await typed('ab\x10\x11'), { passed: 'ab', detached: 1 });
  assert.deepEqual(await typed('ab\x10', '\x11'), { passed: 'ab', detached: 1 });
  assert.deepEqual(await typed('\x10', '\x10', '\x11'), { passed: '\x10', detached: 1 });
  assert.deepEqual(await typed('\x10', 'x', '\x11'), { passed: '\x10x\x11', detached: 0 });
  assert.deepEqual(await typed('\x11\x10'), { passed: '\x11\x10', detached: 0 });
});

test('a terminal type unknown in most containers is replaced by xterm', () => {
  for (const known of ['xterm', 'xterm-256color', 'dumb', 'linux', 'tmux-256color'])
    assert.equal(terminalName(known), known);
  for (const other of ['xterm-kitty', 'alacritty', '', 'x\r\nHost: y', undefined])
    assert.equal(terminalName(other), 'xterm');
});
