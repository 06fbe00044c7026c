import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { loadSystem, setProcessTerminalSize } from '@podwright/system';

/** Returns the PID of a process's only child. */
const childOf = (pid: number) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
const size = { columns: 91, rows: 17 };

test('the terminal of a process is resized', async (t) => {
  const child = spawn('script', ['--quiet', '--command', 'echo ready; read line; stty size', '/dev/null'], {
    stdio: 'pipe',
  });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk));
  while (!output.includes('ready')) await once(child.stdout, 'data');
  const shell = childOf(child.pid!);
  assert.equal(setProcessTerminalSize(loadSystem(), shell, size), true);
  child.stdin.write('\n');
  while (!output.includes('17 91')) await once(child.stdout, 'data');
});

/**
 * A Perl script that keeps replacing its standard input, alternating between the device in its argument (opened with O_PATH) and the
 * terminal.
 */
const SWAP =
  'use POSIX; sysopen(D, $ARGV[0], 010000000) or die; $t = POSIX::dup(0); $| = 1; print "ready"; while (1) { POSIX::dup2(fileno(D), 0); POSIX::dup2($t, 0) }';

test('no other device is opened, even if it replaces the terminal during the call', async (t) => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'pw-size-'));
  const device = join(directory.path, 'device');
  execFileSync('mknod', [device, 'c', '200', '1']); // no driver: opening it fails with ENXIO
  const command = `exec perl -e '${SWAP}' ${device}`;
  const child = spawn('script', ['--quiet', '--command', command, '/dev/null'], { stdio: 'pipe' });
  const inside = () => childOf(child.pid!);
  t.after(() => process.kill(inside(), 'SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk));
  while (!output.includes('ready')) await once(child.stdout, 'data');
  const results = new Set<boolean>();
  const pid = inside();
  // On a single processor the two programs alternate every few milliseconds, so a fixed number of calls might not produce both results.
  const endMs = Date.now() + 30_000;
  for (let calls = 0; calls < 5000 || (results.size < 2 && Date.now() < endMs); calls++) {
    results.add(setProcessTerminalSize(loadSystem(), pid, size));
    if (calls % 5000 === 0) await setTimeout(1);
  }
  assert.deepEqual([...results].sort(), [false, true]);
});
