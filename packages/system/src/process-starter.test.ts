import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { type ProgramStarter, runProgram, startByFork } from '@podwright/host';
import { ProcessStarter } from './process-starter.ts';

const { start } = new ProcessStarter();
const run = (
  script: string,
  options: { stdin?: string; signal?: AbortSignal; cwd?: string; env?: NodeJS.ProcessEnv } = {},
) => runProgram('sh', ['-c', script], { start, ...options });

test('a program reads its input, and its output and exit code are returned', async () => {
  const { exitCode, signal, stdout, stderr } = await run('cat; echo alas >&2; exit 3', { stdin: 'x'.repeat(300_000) });
  assert.deepEqual({ exitCode, signal, stderr }, { exitCode: 3, signal: null, stderr: 'alas\n' });
  assert.equal(stdout.length, 300_000);
});

test('the signal that killed a program is reported', async () => {
  const { exitCode, signal } = await run('kill -TERM $$');
  assert.deepEqual({ exitCode, signal }, { exitCode: null, signal: 'SIGTERM' });
});

test('a program runs in the requested directory with the requested environment', async () => {
  const { stdout } = await run('pwd; echo "$GIVEN"', { cwd: '/usr', env: { GIVEN: 'yes', PATH: '/usr/bin:/bin' } });
  assert.equal(stdout, '/usr\nyes\n');
});

test('a program has the same descriptors as under node:child_process', async () => {
  const descriptors = async (starter: ProgramStarter) =>
    (await runProgram('ls', ['/proc/self/fd'], { start: starter })).stdout;
  assert.equal(await descriptors(start), await descriptors(startByFork));
});

test('both starters start a program within the given callback', async () => {
  for (const starter of [start, startByFork]) {
    const steps: string[] = [];
    const within = <T>(work: () => T): T => {
      steps.push('before');
      const result = work();
      steps.push('after');
      return result;
    };
    const program = starter('true', [], { env: process.env, stdio: ['ignore', 'ignore', 'ignore'], within });
    steps.push('started');
    await once(program as never, 'exit');
    assert.deepEqual(steps, ['before', 'after', 'started']);
  }
});

test('a program has no ignored or blocked signals, whatever this process ignores', async () => {
  const { stdout } = await runProgram('grep', ['^Sig[BI]', '/proc/self/status'], { start });
  assert.equal(stdout, 'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n');
});

test('a missing program is an error', async () => {
  await assert.rejects(runProgram('/no/such/program', [], { start }), { code: 'not_found' });
  await assert.rejects(runProgram('true', ['a\0b'], { start }));
});

test('an abort kills the program', async () => {
  const signal = AbortSignal.timeout(50);
  await assert.rejects(run('exec sleep 100', { signal }), { name: 'TimeoutError' });
});

test('an extra pipe and a new session are set up', async () => {
  const program = start('sh', ['-c', 'cut -d" " -f6 /proc/$$/stat >&3; echo $$ >&3'], {
    env: process.env,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const chunks: Buffer[] = [];
  program.stdio[3]!.on('data', (chunk) => chunks.push(chunk));
  const [exitCode] = await once(program as never, 'close');
  const [session, pid] = Buffer.concat(chunks).toString().trim().split('\n');
  assert.equal(exitCode, 0);
  assert.equal(session, pid);
  assert.equal(pid, String(program.pid));
});

test('a hundred concurrent programs all end, leaving no zombies or listeners', async () => {
  const before = process.listenerCount('SIGCHLD');
  const ends = await Promise.all(Array.from({ length: 100 }, (_, index) => run(`exit ${index}`)));
  assert.deepEqual(
    ends.map(({ exitCode }) => exitCode),
    ends.map((_, index) => index),
  );
  assert.equal(process.listenerCount('SIGCHLD'), before);
  const { stdout } = await runProgram('ps', ['--ppid', String(process.pid), '-o', 'stat='], {});
  assert.doesNotMatch(stdout, /Z/);
});

test('a program may write ahead of its reader by the size of a pipe buffer', async () => {
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const script = 'head -c 900000 /dev/zero; echo done >&2';
  const program = start('sh', ['-c', script], { env: process.env, stdio: [...stdio] });
  const errors = once(program.stdio[2]!, 'data', { signal: AbortSignal.timeout(10_000) }).then(String);
  await errors.catch(() => undefined).finally(() => program.stdio[1]!.on('data', () => undefined));
  await once(program as never, 'close');
  assert.equal(await errors, 'done\n');
});

test('starting a program with too few descriptors left for its pipes is an error and leaks no descriptor', async () => {
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const limit = (most: string) => execFileSync('prlimit', ['--pid', `${process.pid}`, `--nofile=${most}:`]);
  const before = execFileSync('sh', ['-c', 'ulimit -Sn'], { encoding: 'utf8' }).trim();
  limit('512');
  const taken: number[] = [];
  try {
    assert.throws(() => {
      for (;;) taken.push(openSync('/dev/null', 'r'));
    });
    for (const descriptor of taken.splice(-3)) closeSync(descriptor); // enough for one pipe
    const open = descriptors();
    const program = start('true', [], { env: process.env, stdio: ['pipe', 'pipe', 'pipe'] });
    const error = await new Promise<Error>((resolve) => program.once('error', resolve));
    assert.match(error.message, /EMFILE|too many open files/);
    assert.equal(descriptors(), open);
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
    limit(before);
  }
});

test('an abort does not wait for descendants that hold the program’s pipes open', async (t) => {
  for (const starter of [start, startByFork])
    for (const end of ['wait', 'exit']) {
      const file = join(mkdtempSync(join(tmpdir(), 'podwright-descendant-')), 'pid');
      const script = `sleep 1000 & echo $! > ${file}.new && mv ${file}.new ${file}; ${end}`;
      const abort = new AbortController();
      const running = runProgram('sh', ['-c', script], { start: starter, signal: abort.signal });
      await waitFor(() => existsSync(file) || undefined, { intervalMs: 5, signal: AbortSignal.timeout(10_000) });
      const descendant = Number(readFileSync(file, 'utf8'));
      t.after(() => process.kill(descendant));
      abort.abort(new Error('enough'));
      await assert.rejects(running, /enough/);
      rmSync(dirname(file), { recursive: true });
    }
});
