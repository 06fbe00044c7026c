import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { cgroupExists, discoverCgroups, listChildCgroups, sleep, waitFor } from '../../packages/base/src/index.ts';
import type { OciProgram } from '../../packages/runtime/src/tasks/oci-program.ts';
import type { OciTaskRuntime } from '../../packages/runtime/src/tasks/oci-task-runtime.ts';
import type { TaskExit } from '../../packages/runtime/src/tasks/task-runtime.ts';
import {
  makeScratch,
  newMark,
  openTasks,
  processesWith,
  runc,
  type Scratch,
  testSpec,
  workingCrun,
} from './fixture.ts';

const plainRunc = async () => runc;
const bound = () => AbortSignal.timeout(60_000);
const mark = newMark();

describe('tasks when processes die', () => {
  let scratch: Scratch;
  before(() => {
    scratch = makeScratch();
  });
  after(() => scratch.remove());

  for (const find of [plainRunc, workingCrun])
    test(`a runtime that is killed at any moment leaves tasks that its next life finds, runs on, and removes whole (${find.name})`, async () => {
      const program = await find(scratch);
      for (const delayMs of [1, 5, 10, 15, 20, 25, 30, 40, 60, 150]) {
        const started = await killCreatorAfter(scratch, { program, delayMs });
        const tasks = await openTasks(scratch, program);
        try {
          for (const id of started) {
            assert.equal((await tasks.state(id)).status, 'running', `${id} after ${delayMs} ms`);
            assert.equal(String((await tasks.execSync(id, ['echo', 'alive'], 60_000)).stdout), 'alive\n');
          }
          const found = await tasks.list();
          for (const id of started) assert.ok(found.includes(id));
          assert.ok(found.length <= started.length + 1, found.join());
          for (const id of found) await tasks.delete(id);
          await assertNothingLeft(scratch, tasks);
        } finally {
          tasks.close();
        }
      }
    });

  test('a command that ran in a task when the runtime was killed is ended by its next life', async () => {
    const tasks = await openTasks(scratch, runc);
    after(() => tasks.close());
    const spec = testSpec(scratch, 'busy', ['sleep', '1000']);
    const bundle = join(scratch.directory, 'bundles', 'busy');
    const options = { terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
    await tasks.create({ ...options, id: 'busy', bundle, spec }, bound());
    await tasks.start('busy');
    const cut = tasks.execSync('busy', ['sh', '-c', `sleep ${mark} & sleep ${mark}`], 60_000);
    await waitFor(() => processesWith(mark).length >= 2 || undefined, { intervalMs: 10, signal: bound() });
    const later = await openTasks(scratch, runc); // as after a kill: nobody of the later life knows of the command
    try {
      await Promise.allSettled([cut]);
      assert.deepEqual(processesWith(mark), []);
      assert.equal((await later.state('busy')).status, 'running');
      await later.delete('busy');
      await assertNothingLeft(scratch, later);
    } finally {
      later.close();
    }
  });

  test('when its monitor dies, a task is killed and its end says why', async () => {
    const tasks = await openTasks(scratch, runc);
    try {
      const bundle = join(scratch.directory, 'bundles', 'lost');
      const spec = testSpec(scratch, 'lost', ['sh', '-c', `sleep ${mark} & sleep ${mark}`]);
      const options = { terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
      await tasks.create({ ...options, id: 'lost', bundle, spec }, bound());
      await tasks.start('lost');
      const exit = new Promise<TaskExit>((resolve) => void tasks.onExit('lost', resolve));
      process.kill(Number(readFileSync(join(bundle, 'conmon.pid'), 'utf8')), 'SIGKILL');
      const { exitCode, message, oomKilled } = await exit;
      assert.deepEqual({ exitCode, oomKilled }, { exitCode: 137, oomKilled: false });
      assert.match(message ?? '', /monitor/);
      assert.deepEqual(processesWith(mark), []);
      assert.deepEqual(await tasks.state('lost'), { status: 'exited', exit: await exit });
      await tasks.delete('lost');
      await assertNothingLeft(scratch, tasks);
    } finally {
      tasks.close();
    }
  });
});

/** Starts a creator of tasks, kills it a while after it is ready, and returns the ids of tasks that it had started. */
async function killCreatorAfter(
  scratch: Scratch,
  { program, delayMs }: { program: OciProgram; delayMs: number },
): Promise<string[]> {
  const creator = new URL('./create-tasks.fixture.ts', import.meta.url).pathname;
  const args = [creator, JSON.stringify(scratch), JSON.stringify(program)];
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout! });
  const started: string[] = [];
  const ready = once(lines, 'line');
  lines.on('line', (line: string) => {
    if (line.startsWith('started ')) started.push(line.slice('started '.length));
  });
  await ready;
  await sleep(delayMs);
  child.kill('SIGKILL');
  await once(child, 'close');
  return started;
}

async function assertNothingLeft(scratch: Scratch, tasks: OciTaskRuntime): Promise<void> {
  assert.deepEqual(await tasks.list(), []);
  // A monitor that was forked but not yet started when its runtime was killed ends by itself, a moment later.
  const gone = () => processesWith(join(scratch.directory, 'bundles')).length === 0 || undefined;
  await waitFor(gone, { intervalMs: 10, signal: bound() });
  const cgroups = await discoverCgroups();
  if (await cgroupExists(cgroups, scratch.cgroupParent))
    assert.deepEqual(await listChildCgroups(cgroups, scratch.cgroupParent), []);
  const bundles = join(scratch.directory, 'bundles');
  if (existsSync(bundles)) assert.deepEqual(readdirSync(bundles), []);
  const state = join(scratch.directory, 'state');
  const left = readdirSync(state, { recursive: true }).map(String).sort();
  assert.deepEqual(
    left.filter((name) => name !== 'runc' && name !== 'crun'),
    ['execs', 'exits', 'records'],
  );
}
