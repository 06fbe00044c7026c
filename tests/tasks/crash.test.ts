import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { sleep, waitFor } from '@podwright/base';
import { cgroupExists, discoverCgroups, listChildCgroups } from '@podwright/host';
import type { OciProgram } from '../../packages/runtime/src/oci-runtime/oci-program.ts';
import { commitSpec } from '../../packages/runtime/src/tasks/bundle.ts';
import type { TaskExit, TaskRuntime } from '../../packages/runtime/src/tasks/task-runtime.ts';
import {
  makeScratch,
  newMark,
  openShims,
  openTasks,
  processesWith,
  runc,
  type Scratch,
  testSpec,
  workingCrun,
} from './fixture.ts';

const bound = () => AbortSignal.timeout(60_000);
const mark = newMark();
const nameOf = (program: OciProgram | 'shim') => (program === 'shim' ? 'a shim' : program.name);

describe('tasks when processes die', () => {
  let scratch: Scratch;
  before(() => {
    scratch = makeScratch();
  });
  after(() => scratch.remove());

  const kinds: [string, (scratch: Scratch) => Promise<OciProgram | 'shim'>][] = [
    ['runc', async () => runc],
    ['crun', workingCrun],
    ['a shim', async () => 'shim'],
  ];
  for (const [name, find] of kinds)
    test(`a runtime that is killed at any moment leaves tasks that are found after its restart, keep running, and can be removed completely (${name})`, async () => {
      const program = await find(scratch);
      for (const delayMs of [1, 10, 20, 30, 50, 120]) {
        const started = await killCreatorAfter(scratch, { program, delayMs });
        const tasks = await open(scratch, program);
        try {
          for (const id of started) {
            assert.equal((await tasks.state(id)).status, 'running', `${id} after ${delayMs} ms`);
            assert.equal(
              String((await tasks.execSync(id, ['echo', 'alive'], { signal: AbortSignal.timeout(60_000) })).stdout),
              'alive\n',
            );
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

  for (const program of [runc, 'shim'] as const)
    test(`a command that ran in a task when the runtime was killed is killed after its restart (${nameOf(program)})`, async () => {
      const tasks = await open(scratch, program);
      await startTask(scratch, tasks, { id: 'busy', args: ['sleep', '1000'] });
      const command = ['sh', '-c', `sleep ${mark} & sleep ${mark}`];
      const cut = tasks.execSync('busy', command, { signal: AbortSignal.timeout(60_000) }).catch(() => undefined);
      const { stdout } = await tasks.exec('busy', { command, terminal: true, signal: bound() });
      stdout.resume();
      const running = () => processesWith(`sleep ${mark}`).filter((line) => !line.includes('sh -c')).length;
      await waitFor(() => running() === 4 || undefined, { intervalMs: 10, signal: bound() });
      tasks.close(); // as after a kill: the next process has no record of the command
      const later = await open(scratch, program);
      try {
        await cut;
        assert.deepEqual(processesWith(mark), []);
        assert.equal((await later.state('busy')).status, 'running');
        await later.delete('busy');
        await assertNothingLeft(scratch, later);
      } finally {
        later.close();
      }
    });

  for (const program of [runc, 'shim'] as const)
    test(`when its monitor dies, a task is killed and its exit has the reason (${nameOf(program)})`, async () => {
      const tasks = await open(scratch, program);
      try {
        await startTask(scratch, tasks, { id: 'lost', args: ['sh', '-c', `sleep ${mark} & sleep ${mark}`] });
        const exit = new Promise<TaskExit>((resolve) => void tasks.onExit('lost', resolve));
        process.kill(watcherPid(scratch, 'lost', program), 'SIGKILL');
        const { exitCode, message, oomKilled } = await exit;
        assert.deepEqual({ exitCode, oomKilled }, { exitCode: 137, oomKilled: false });
        assert.match(message ?? '', /monitor|shim/);
        assert.deepEqual(processesWith(mark), []);
        assert.deepEqual(await tasks.state('lost'), { status: 'exited', exit: await exit });
        await tasks.delete('lost');
        await assertNothingLeft(scratch, tasks);
      } finally {
        tasks.close();
      }
    });

  test('the task of a shim that died while no runtime ran is found dead, with its last lines in its log', async () => {
    const tasks = await open(scratch, 'shim');
    const logPath = join(scratch.directory, 'words.log');
    await startTask(scratch, tasks, { id: 'words', args: ['sh', '-c', `echo last; sleep ${mark}`], logPath });
    await waitFor(() => processesWith(mark).length > 0 || undefined, { intervalMs: 10, signal: bound() });
    tasks.close();
    process.kill(watcherPid(scratch, 'words', 'shim'), 'SIGKILL');
    const later = await open(scratch, 'shim');
    try {
      const state = await later.state('words');
      assert.equal(state.status === 'exited' && state.exit.exitCode, 137);
      assert.match(readFileSync(logPath, 'utf8'), / stdout F last\n$/);
      await later.delete('words');
      await assertNothingLeft(scratch, later);
    } finally {
      later.close();
    }
  });
});

const open = (scratch: Scratch, program: OciProgram | 'shim'): Promise<TaskRuntime> =>
  program === 'shim' ? openShims(scratch) : openTasks(scratch, program);

async function startTask(
  scratch: Scratch,
  tasks: TaskRuntime,
  { id, args, logPath = '' }: { id: string; args: string[]; logPath?: string },
): Promise<void> {
  const bundle = join(scratch.directory, 'bundles', id);
  const options = { terminal: false, stdin: false, stdinOnce: false, logPath, handler: '' };
  const spec = testSpec(scratch, id, args);
  commitSpec(bundle, spec);
  await tasks.create({ ...options, id, bundle, spec }, bound());
  await tasks.start(id);
}

/** Returns the PID of the process that monitors a task: conmon or the shim. */
function watcherPid({ directory }: Scratch, id: string, program: OciProgram | 'shim'): number {
  if (program !== 'shim') return Number(readFileSync(join(directory, 'state/bundles', id, 'conmon.pid'), 'utf8'));
  const shim = processesWith(`-id ${id} -address ${directory}`)[0];
  return Number.parseInt(shim ?? '', 10);
}

/** Starts a process that creates tasks, kills it a while after it is ready, and returns the IDs of the tasks it had started. */
async function killCreatorAfter(
  scratch: Scratch,
  { program, delayMs }: { program: OciProgram | 'shim'; delayMs: number },
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

async function assertNothingLeft(scratch: Scratch, tasks: TaskRuntime): Promise<void> {
  assert.deepEqual(await tasks.list(), []);
  // if the runtime was killed after forking a monitor but before starting it, the monitor exits shortly afterwards
  const { directory, cgroupParent } = scratch;
  const areGone = () => processesWith(directory).length === 0 && processesIn(directory).length === 0;
  await waitFor(() => areGone() || undefined, { intervalMs: 10, signal: bound() });
  const cgroups = await discoverCgroups();
  if (await cgroupExists(cgroups, cgroupParent)) assert.deepEqual(await listChildCgroups(cgroups, cgroupParent), []);
  const bundles = join(directory, 'shims', 'bundles');
  if (existsSync(bundles)) assert.deepEqual(readdirSync(bundles), []);
  const left = ['state', 'shim-tasks', 'runc']
    .map((name) => join(directory, name))
    .flatMap((path) => (existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : []));
  const lasting = ['runc', 'crun', 'bundles', 'execs', 'exits', 'records', 'podwright'];
  assert.deepEqual(
    left.filter((name) => !lasting.includes(name)),
    [],
  );
}

/** Returns the processes whose working directory is in this directory. */
function processesIn(directory: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(directory);
    } catch {
      return false; // the process has exited
    }
  });
}
