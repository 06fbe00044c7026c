import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { test } from 'node:test';
import { Limiter, sleep, waitFor } from '@podwright/base';
import { commitSpec } from '../../packages/runtime/src/tasks/bundle.ts';
import type { ExecSession, TaskRuntime } from '../../packages/runtime/src/tasks/task-runtime.ts';
import { makeScratch, newMark, openShims, openTasks, processesWith, runc, type Scratch, testSpec } from './fixture.ts';

const openDescriptors = () => readdirSync('/proc/self/fd').length;
const bound = () => AbortSignal.timeout(60_000);
const mark = newMark();
const AT_ONCE = 8;

const kinds = [
  { name: 'runc', count: 200, open: (scratch: Scratch) => openTasks(scratch, runc) },
  { name: 'a shim', count: 80, open: openShims },
];
for (const { name, count, open } of kinds)
  test(`${count} streams that are opened, interrupted and closed in any order leave no process and no descriptor (${name})`, async () => {
    const scratch = makeScratch();
    const tasks: TaskRuntime = await open(scratch);
    try {
      const spec = testSpec(scratch, 'busy', ['sh', '-c', 'while read line; do echo "$line"; done; sleep 1000']);
      const bundle = join(scratch.directory, 'bundle');
      const options = { terminal: false, stdin: true, stdinOnce: false, logPath: '', handler: '' };
      commitSpec(bundle, spec);
      await tasks.create({ ...options, id: 'busy', bundle, spec }, bound());
      await tasks.start('busy');
      await useStream(tasks, 0); // warms up: the first use opens descriptors that stay
      const before = openDescriptors();
      const limiter = new Limiter(AT_ONCE);
      await Promise.all(Array.from({ length: count }, (_, index) => limiter.run(() => useStream(tasks, index))));
      // for each concurrent session, one connection remains open for reuse (`TaskAttachments`)
      await waitFor(() => (openDescriptors() <= before + AT_ONCE && processesWith(mark).length === 0) || undefined, {
        intervalMs: 20,
        signal: bound(),
      });
      assert.equal((await tasks.state('busy')).status, 'running');
      for (const execs of ['state/execs', 'shims/bundles/busy/execs'].map((path) => join(scratch.directory, path)))
        await waitFor(() => !existsSync(execs) || readdirSync(execs).length === 0 || undefined, {
          intervalMs: 20,
          signal: bound(),
        });
    } finally {
      await tasks.delete('busy');
      tasks.close();
      await scratch.remove();
    }
  });

for (const { stdin, what } of [
  { stdin: false, what: 'output only' },
  { stdin: true, what: 'input that is closed' },
])
  test(`attach sessions one after the other leave conmon one connection to a silent task (${what})`, async () => {
    const scratch = makeScratch();
    const tasks = await openTasks(scratch, runc);
    try {
      const spec = testSpec(scratch, 'silent', ['sleep', '1000']);
      const bundle = join(scratch.directory, 'bundle');
      const options = { terminal: false, stdin: true, stdinOnce: false, logPath: '', handler: '' };
      commitSpec(bundle, spec);
      await tasks.create({ ...options, id: 'silent', bundle, spec }, bound());
      await tasks.start('silent');
      const monitor = processesWith(scratch.directory).find((line) => /^ *\d+ \S*conmon /.test(line));
      const pid = Number.parseInt(monitor!, 10);
      const held = () => readdirSync(`/proc/${pid}/fd`).length;
      const use = async () => {
        const client = new AbortController();
        const session = await tasks.attach('silent', client.signal, { stdin });
        if (stdin) await new Promise<void>((resolve) => session.stdin.end(resolve));
        client.abort(new Error('detached'));
      };
      const before = held();
      for (let count = 0; count < 30; count++) await use();
      // conmon holds no file descriptor for connections it has not accepted yet, so wait until one more session gets a response
      const { stdin: input } = await tasks.attach('silent', bound());
      await new Promise<void>((resolve) => input.write('line\n', () => resolve()));
      await waitFor(() => held() > before || undefined, { intervalMs: 20, signal: bound() });
      assert.ok(held() <= before + 2, `${held() - before} connections`);
    } finally {
      await tasks.delete('silent');
      tasks.close();
      await scratch.remove();
    }
  });

/** Runs one session, of one of six types. */
async function useStream(tasks: TaskRuntime, index: number): Promise<void> {
  const client = new AbortController();
  const terminal = index % 2 === 0;
  if (index % 3 === 0) {
    const attached = await tasks.attach('busy', client.signal);
    attached.stdin.write(`line ${index}\n`);
    attached.stdout.resume();
    await sleep(index % 20);
    return client.abort(new Error('detached'));
  }
  const command = ['sh', '-c', index % 3 === 1 ? `cat; sleep ${mark}` : 'echo done; exit 1'];
  const session = await tasks.exec('busy', { command, terminal, signal: client.signal });
  if (index % 3 === 2) return await readToEnd(session);
  session.stdin.write('x\n');
  await sleep(index % 20);
  client.abort(new Error('the client disconnected'));
  await readToEnd(session);
}

async function readToEnd({ stdin, stdout, stderr, exit }: ExecSession): Promise<void> {
  stdout.resume();
  stderr?.resume();
  await exit;
  await finished(stdout);
  stdin.destroy();
}
