import assert from 'node:assert/strict';
import { appendFileSync, copyFileSync, openSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runProgram } from '../../packages/base/src/index.ts';
import { SealedCopies } from '../../packages/runtime/src/oci-runtime/sealed-copies.ts';
import { commitSpec } from '../../packages/runtime/src/tasks/bundle.ts';
import { loadSystem } from '../../packages/system/src/index.ts';
import { findProgram, makeScratch, openTasks, testSpec, workingCrun } from './fixture.ts';

const bound = () => AbortSignal.timeout(60_000);
const scratch = makeScratch();
after(() => scratch.remove());

/** Descriptors of this process that are sealed copies. */
const copies = () =>
  readdirSync('/proc/self/fd').filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith('/memfd:sealed');
    } catch {
      return false; // that of the listing
    }
  });

test('a copy runs as its program does, cannot be changed, and is made anew when the program was replaced', async () => {
  const program = join(scratch.directory, 'program');
  copyFileSync(findProgram('echo'), program);
  using sealed = new SealedCopies(loadSystem());
  const path = sealed.path(program);
  assert.equal((await runProgram(path, ['here'])).stdout, 'here\n');
  assert.equal(statSync(path).mode, statSync(program).mode);
  assert.throws(() => appendFileSync(path, 'x'), { code: 'EPERM' });
  assert.throws(() => openSync(path, 'w'), { code: 'EPERM' });
  assert.equal(sealed.path(program), path);
  copyFileSync(findProgram('true'), program);
  const newer = sealed.path(program);
  assert.notEqual(newer, path);
  assert.equal((await runProgram(newer, ['here'])).stdout, '');
  assert.equal((await runProgram(path, ['here'])).stdout, 'here\n'); // who was about to start the old one still can
});

test('what cannot be copied is started by its own path', () => {
  using sealed = new SealedCopies(loadSystem());
  assert.equal(sealed.path('/nonexistent'), '/nonexistent');
  assert.equal(sealed.path(scratch.directory), scratch.directory);
  assert.deepEqual(copies(), []);
});

test('a container and a command in it are made from one copy of crun, which goes with the task runtime', async () => {
  const crun = await workingCrun(scratch);
  assert.equal(crun.sealed, true);
  assert.deepEqual(copies(), []); // those of the trial
  const tasks = await openTasks(scratch, crun);
  const id = 'sealed';
  const bundle = join(scratch.directory, 'bundles', id);
  const spec = testSpec(scratch, id, ['sleep', '1000']);
  commitSpec(bundle, spec);
  try {
    const config = { terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
    await tasks.create({ ...config, id, bundle, spec }, bound());
    await tasks.start(id);
    // What a container could reach of the program that came into it: the copy of all, which nobody can change.
    const { stdin, stdout, exit } = await tasks.exec(id, { command: ['cat'], terminal: false, signal: bound() });
    stdout.resume();
    const running = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && runs(pid, '/memfd:sealed'));
    assert.equal(running.length, 1, 'crun, which waits for the command');
    assert.equal(copies().length, 1);
    stdin.end();
    await exit;
  } finally {
    await tasks.delete(id);
    tasks.close();
  }
  assert.deepEqual(copies(), []);
});

function runs(pid: string, program: string): boolean {
  try {
    return (
      readlinkSync(`/proc/${pid}/exe`).startsWith(program) &&
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(scratch.directory)
    );
  } catch {
    return false; // it has ended
  }
}
