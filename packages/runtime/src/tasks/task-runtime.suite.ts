import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { after, before, describe, test } from 'node:test';
import { errorCode, isNotFound, PodwrightError, waitFor, withTimeout } from '@podwright/base';
import { commitSpec } from './bundle.ts';
import type { TaskConfig, TaskExit, TaskRuntime } from './task-runtime.ts';

/** The environment in which the suite tests an implementation of `TaskRuntime`. */
export type TaskRuntimeHarness = {
  /** Opens a task runtime on the harness's state directory. Reopening it after closing it simulates a restart. */
  open(): Promise<TaskRuntime>;
  /** Returns the configuration of a task that runs `args` in a root file system with BusyBox. */
  config(id: string, args: string[], changes?: Partial<Omit<TaskConfig, 'id' | 'spec'>> & SpecChanges): TaskConfig;
  /** A number that no other suite passes to `sleep`. Identifies the suite's own processes. */
  mark: string;
  /** Returns the command lines of processes that contain `mark`. */
  processesWith(mark: string): string[];
  remove(): Promise<void>;
};

export type SpecChanges = { memoryLimitBytes?: number };

const forever = ['sleep', '1000'];
const bound = () => AbortSignal.timeout(60_000);
const soon = () => withTimeout(undefined, 300, 'try');

/** Tests the contract in `task-runtime.ts` for a task runtime. */
export function taskRuntimeSuite(name: string, prepare: () => Promise<TaskRuntimeHarness>): void {
  describe(`task runtime ${name}`, () => {
    let harness: TaskRuntimeHarness;
    let tasks: TaskRuntime;
    before(async () => {
      harness = committing(await prepare());
      tasks = await harness.open();
    });
    after(async () => {
      for (const id of await tasks.list()) await tasks.delete(id);
      tasks.close();
      await harness.remove();
    });

    const context = (): SuiteContext => ({
      harness,
      tasks,
      start: async (id, args, changes) => {
        await tasks.create(harness.config(id, args, changes), bound());
        await tasks.start(id);
      },
      restart: async () => {
        tasks.close();
        tasks = await harness.open();
        return tasks;
      },
    });
    lifeTests(context);
    endTests(context);
    execTests(context);
    streamTests(context);
    attachTests(context);
    slowClientTests(context);
    logTests(context);
  });
}

/** A harness that commits its tasks' bundles, as every caller must. */
function committing(harness: TaskRuntimeHarness): TaskRuntimeHarness {
  const config: TaskRuntimeHarness['config'] = (id, args, changes) => {
    const made = harness.config(id, args, changes);
    commitSpec(made.bundle, made.spec);
    return made;
  };
  return { ...harness, config };
}

type SuiteContext = {
  harness: TaskRuntimeHarness;
  tasks: TaskRuntime;
  start(id: string, args: string[], changes?: Parameters<TaskRuntimeHarness['config']>[2]): Promise<void>;
  /** Restarts the task runtime; later tests use the new instance. */
  restart(): Promise<TaskRuntime>;
};

const exitOf = (tasks: TaskRuntime, id: string): Promise<TaskExit> =>
  new Promise((resolve, reject) => {
    const watch = tasks.onExit(id, (exit) => {
      clearTimeout(timer);
      resolve(exit);
    });
    const timer = setTimeout(() => {
      watch[Symbol.dispose]();
      reject(new Error(`task ${id} has not ended`));
    }, 60_000);
  });

const isCancelled = (error: unknown) => errorCode(error) === 'cancelled';

/** Checks that nothing of the task is left on the host. Makes no call to the task runtime before that check. */
async function assertNothingOf({ tasks, harness }: SuiteContext, { id, bundle }: TaskConfig): Promise<void> {
  assert.deepEqual(harness.processesWith(harness.mark), []);
  assert.deepEqual(await readdir(bundle), ['config.json']); // the caller's file
  assert.ok(!(await tasks.list()).includes(id));
  assert.ok(!(await tasks.has?.(id)));
  assert.deepEqual(await tasks.state(id), { status: 'absent' });
}

const failsAs = (code: string) => (error: unknown) => errorCode(error) === code;

function lifeTests(context: () => SuiteContext): void {
  test('a task is absent, created, running, exited and absent again', async () => {
    const { tasks, harness } = context();
    assert.deepEqual(await tasks.state('life'), { status: 'absent' });
    const { pid } = await tasks.create(harness.config('life', ['sh', '-c', 'exit 7']), bound());
    assert.deepEqual(await tasks.state('life'), { status: 'created', pid });
    const exit = exitOf(tasks, 'life');
    await tasks.start('life');
    assert.equal((await exit).exitCode, 7);
    assert.deepEqual(await tasks.state('life'), { status: 'exited', exit: await exit });
    await tasks.delete('life');
    assert.deepEqual(await tasks.state('life'), { status: 'absent' });
  });

  test('a running task is reported as running, with the pid that create returned', async () => {
    const { tasks, harness } = context();
    const { pid } = await tasks.create(harness.config('running', forever), bound());
    await tasks.start('running');
    assert.deepEqual(await tasks.state('running'), { status: 'running', pid });
    assert.ok((await tasks.list()).includes('running'));
    assert.notEqual(await tasks.has?.('running'), false);
    await tasks.delete('running');
    assert.ok(!(await tasks.list()).includes('running'));
  });

  test('a command that is not in the image fails with the message of the OCI runtime, and leaves nothing behind', async () => {
    const { tasks, harness } = context();
    for (const terminal of [false, true]) {
      const config = harness.config('missing', ['no-such-program'], { terminal });
      await assert.rejects(
        tasks.create(config, bound()),
        (error) => isNotFound(error) && /no-such-program/.test(String(error)),
      );
      assert.deepEqual(await tasks.state('missing'), { status: 'absent' });
      assert.ok(!(await tasks.list()).includes('missing'));
      assert.deepEqual(await readdir(config.bundle), ['config.json']);
    }
  });

  test('a bundle belongs to its caller: a task reads it, leaves it unchanged, and can be created from it again', async () => {
    const { tasks, harness } = context();
    const config = harness.config('again', forever);
    const file = join(config.bundle, 'config.json');
    const before = await stat(file);
    for (const attempt of ['first', 'second']) {
      await tasks.create(config, bound());
      await tasks.start('again');
      assert.equal(
        String((await tasks.execSync('again', ['echo', attempt], { signal: bound() })).stdout),
        `${attempt}\n`,
      );
      await tasks.delete('again');
      assert.deepEqual(await readdir(config.bundle), ['config.json'], attempt);
      const { ino, mtimeMs } = await stat(file);
      assert.deepEqual([ino, mtimeMs], [before.ino, before.mtimeMs], attempt);
    }
  });

  test('an id is in use until its task is deleted', async () => {
    const { tasks, harness, start } = context();
    await start('twice', forever);
    await assert.rejects(tasks.create(harness.config('twice', forever), bound()), failsAs('already_exists'));
    await tasks.delete('twice');
    await start('twice', forever);
    await tasks.delete('twice');
  });

  test('a create that is aborted before it starts leaves nothing behind', async () => {
    const { tasks, harness } = context();
    const config = harness.config('aborted', ['sleep', harness.mark]);
    await assert.rejects(
      tasks.create(config, AbortSignal.abort(new PodwrightError('cancelled', 'aborted'))),
      isCancelled,
    );
    await assertNothingOf(context(), config);
  });

  test('a create that is aborted while it runs leaves nothing behind', async () => {
    const { tasks, harness } = context();
    const config = harness.config('aborted', ['sleep', harness.mark]);
    const abort = new AbortController();
    const created = tasks.create(config, abort.signal);
    const rejected = assert.rejects(created, isCancelled);
    // the task is listed before any part of it exists, and creating it takes longer than this check, so the abort arrives during the
    // creation
    const isListed = async () => (await tasks.list()).includes('aborted') || undefined;
    await waitFor(isListed, { intervalMs: 0, signal: bound() });
    abort.abort(new PodwrightError('cancelled', 'aborted'));
    await rejected;
    await assertNothingOf(context(), config);
    await tasks.create(config, bound()); // its id is free again
    await tasks.delete('aborted');
  });

  test('ids that contain paths are rejected', async () => {
    const { tasks, harness } = context();
    for (const id of ['../up', 'a/b', '', '-x'])
      await assert.rejects(tasks.create({ ...harness.config('x', forever), id }, bound()), failsAs('invalid_argument'));
  });

  test('only a created task can be started', async () => {
    const { tasks, start } = context();
    await assert.rejects(tasks.start('unknown'), isNotFound);
    await start('started', forever);
    await assert.rejects(tasks.start('started'), failsAs('failed_precondition'));
    await tasks.delete('started');
  });

  test('a delete kills running processes, and is no error for a deleted task', async () => {
    const { tasks, harness, start } = context();
    await start('deleted', ['sh', '-c', `sleep ${harness.mark} & sleep ${harness.mark}`]);
    await tasks.delete('deleted');
    assert.deepEqual(harness.processesWith(harness.mark), []);
    await tasks.delete('deleted');
    await tasks.delete('never-there');
  });

  test('ten tasks run and exit concurrently', async () => {
    const { tasks, start } = context();
    const ids = Array.from({ length: 10 }, (_, index) => `many-${index}`);
    await Promise.all(ids.map((id, index) => start(id, ['sh', '-c', `exit ${index}`])));
    const exits = await Promise.all(ids.map((id) => exitOf(tasks, id)));
    assert.deepEqual(
      exits.map(({ exitCode }) => exitCode),
      ids.map((_, index) => index),
    );
    await Promise.all(ids.map((id) => tasks.delete(id)));
  });

  test('after a restart the runtime finds, controls and deletes earlier tasks', async () => {
    const { tasks, harness, start, restart } = context();
    await start('kept', ['sh', '-c', 'trap "exit 5" TERM; while :; do sleep 0.05; done']);
    await start('ended', ['sh', '-c', 'exit 6']);
    await exitOf(tasks, 'ended');
    await tasks.create(harness.config('waiting', forever), bound());
    const restarted = await restart();
    assert.equal((await restarted.state('kept')).status, 'running');
    assert.equal((await restarted.state('waiting')).status, 'created');
    assert.equal((await exitOf(restarted, 'ended')).exitCode, 6);
    const exit = exitOf(restarted, 'kept');
    await restarted.kill('kept', 'TERM');
    assert.equal((await exit).exitCode, 5);
    for (const id of ['kept', 'ended', 'waiting']) await restarted.delete(id);
    for (const id of ['kept', 'ended', 'waiting']) assert.equal((await restarted.state(id)).status, 'absent');
  });

  test('after a restart the stdin, the output and the log of a task continue', async () => {
    const { tasks, harness, start, restart } = context();
    const { logPath } = harness.config('resumed', forever);
    await start('resumed', ['sh', '-c', 'while read line; do echo "got $line"; done; echo over'], { stdin: true });
    const before = new AbortController();
    const first = await tasks.attach('resumed', before.signal);
    first.stdin.write('one\n');
    await reader(first.stdout).next(/got one\n/);
    before.abort(new Error('detached'));
    const restarted = await restart();
    const { stdin, stdout } = await restarted.attach('resumed', bound());
    const seen = reader(stdout);
    stdin.write('two\n');
    await seen.next(/got two\n/);
    assert.equal((await restarted.state('resumed')).status, 'running');
    await restarted.delete('resumed');
    assert.match(await readFile(logPath, 'utf8'), /^\S+ stdout F got one\n\S+ stdout F got two\n$/);
  });

  test('output that a task writes while the runtime is down is logged, including its last lines', async () => {
    const { tasks, harness, start, restart } = context();
    const { logPath } = harness.config('alone', forever);
    await start('alone', ['sh', '-c', 'sleep 0.5; for word in a b c; do echo $word; done; exit 4']);
    tasks.close();
    await waitFor(() => harness.processesWith('for word in a b c').length === 0 || undefined, {
      intervalMs: 20,
      signal: bound(),
    });
    const restarted = await restart();
    assert.equal((await exitOf(restarted, 'alone')).exitCode, 4);
    assert.match(await readFile(logPath, 'utf8'), /^\S+ stdout F a\n\S+ stdout F b\n\S+ stdout F c\n$/);
    await restarted.delete('alone');
  });

  test('limits of a running task can be changed', async () => {
    const { tasks, start } = context();
    await start('updated', forever, { memoryLimitBytes: 64 << 20 });
    const takes48MiB = async () =>
      (
        await tasks.execSync('updated', ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=48M', 'count=1'], {
          signal: bound(),
        })
      ).exitCode;
    assert.equal(await takes48MiB(), 0);
    await tasks.update('updated', { memory: { limit: 32 << 20, swap: 32 << 20 }, cpu: { shares: 300 } });
    assert.equal((await tasks.state('updated')).status, 'running');
    assert.equal(await takes48MiB(), 137);
    await tasks.delete('updated');
    await assert.rejects(tasks.update('updated', {}), isNotFound);
  });
}

function endTests(context: () => SuiteContext): void {
  test('signals are given by name or number, and signalling an exited task is no error', async () => {
    const { tasks, start } = context();
    await start('signalled', ['sh', '-c', 'trap "exit 9" USR1; while :; do sleep 0.05; done']);
    await assert.rejects(tasks.kill('signalled', 'NOPE'), failsAs('invalid_argument'));
    const exit = exitOf(tasks, 'signalled');
    await waitFor(
      async () => {
        await tasks.kill('signalled', 'SIGUSR1'); // before its trap is set, the first process ignores it
        return (await tasks.state('signalled')).status === 'exited' || undefined;
      },
      { intervalMs: 20, signal: bound() },
    );
    assert.equal((await exit).exitCode, 9);
    await tasks.kill('signalled', '15');
    await tasks.delete('signalled');
  });

  test('a killed task has exit code 137, and is not reported as OOM-killed', async () => {
    const { tasks, start } = context();
    await start('killed', forever);
    const exit = exitOf(tasks, 'killed');
    await tasks.kill('killed', 'SIGKILL', { all: true });
    const { exitCode, oomKilled, exitedAtMs } = await exit;
    assert.deepEqual({ exitCode, oomKilled }, { exitCode: 137, oomKilled: false });
    assert.ok(Math.abs(Date.now() - exitedAtMs) < 10_000);
    await tasks.delete('killed');
  });

  test('a task that the OOM killer killed is reported as OOM-killed', async () => {
    const { tasks, start } = context();
    await start('hungry', ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=100M'], { memoryLimitBytes: 16 << 20 });
    const { exitCode, oomKilled } = await exitOf(tasks, 'hungry');
    assert.deepEqual({ exitCode, oomKilled }, { exitCode: 137, oomKilled: true });
    await tasks.delete('hungry');
  });

  test('a task that lost a process to the OOM killer is reported as OOM-killed, even if it exits with 0', async () => {
    const { tasks, start } = context();
    const script = 'dd if=/dev/zero of=/dev/null bs=100M; exit 0';
    await start('bereft', ['sh', '-c', script], { memoryLimitBytes: 16 << 20 });
    const { exitCode, oomKilled } = await exitOf(tasks, 'bereft');
    assert.deepEqual({ exitCode, oomKilled }, { exitCode: 0, oomKilled: true });
    await tasks.delete('bereft');
  });

  test('listeners for the end of a task are called when it is deleted', async () => {
    const { tasks, start } = context();
    await start('awaited', forever);
    const exit = exitOf(tasks, 'awaited');
    await tasks.delete('awaited');
    assert.equal((await exit).exitCode, 137);
  });
}

function execTests(context: () => SuiteContext): void {
  test('a command runs in a task until it exits, and its outputs and exit code are returned', async () => {
    const { tasks, start } = context();
    await start('exec', forever);
    const result = await tasks.execSync('exec', ['sh', '-c', 'echo out; echo err >&2; exit 4'], { signal: bound() });
    assert.deepEqual(
      { ...result, stdout: String(result.stdout), stderr: String(result.stderr) },
      { stdout: 'out\n', stderr: 'err\n', exitCode: 4 },
    );
    const binary = await tasks.execSync('exec', ['head', '-c', '3000000', '/dev/zero'], { signal: bound() });
    assert.ok(binary.stdout.equals(Buffer.alloc(3_000_000)));
    await assert.rejects(tasks.execSync('exec', ['no-such-program'], { signal: bound() }), isNotFound);
    await tasks.delete('exec');
    await assert.rejects(tasks.execSync('exec', ['true'], { signal: bound() }), isNotFound);
  });

  test('commands can run as soon as a task has started, one after another and concurrently', async () => {
    const { tasks, start } = context();
    await start('execs', forever);
    const echo = async (word: string) =>
      String((await tasks.execSync('execs', ['echo', word], { signal: bound() })).stdout);
    const onTerminal = async (word: string) => {
      const { stdout, exit } = await tasks.exec('execs', { command: ['echo', word], terminal: true, signal: bound() });
      return [await text(stdout), (await exit).exitCode];
    };
    assert.deepEqual(await Promise.all([echo('first'), onTerminal('tty'), echo('other')]), [
      'first\n',
      ['tty\r\n', 0],
      'other\n',
    ]);
    for (let index = 0; index < 10; index++) assert.equal(await echo(`${index}`), `${index}\n`);
    await tasks.delete('execs');
  });

  test('a command cannot run in a task that is not running', async () => {
    const { tasks, harness } = context();
    await tasks.create(harness.config('stopped', forever), bound());
    await assert.rejects(tasks.execSync('stopped', ['true'], { signal: bound() }), failsAs('failed_precondition'));
    await tasks.delete('stopped');
  });

  test('a command that takes too long is killed with all that it started', async () => {
    const { tasks, harness, start } = context();
    await start('slow', forever);
    const command = ['sh', '-c', `sleep ${harness.mark} & (sleep ${harness.mark} &) ; sleep ${harness.mark}`];
    await assert.rejects(tasks.execSync('slow', command, { signal: soon() }), failsAs('deadline_exceeded'));
    assert.deepEqual(harness.processesWith(harness.mark), []);
    assert.equal((await tasks.state('slow')).status, 'running');
    await assert.rejects(
      tasks.execSync('slow', ['tail', '-f', '/dev/null'], { signal: soon() }),
      failsAs('deadline_exceeded'),
    );
    // the task's first process does not reap its children, so a killed child would stay a zombie until the task exits
    assert.doesNotMatch(String((await tasks.execSync('slow', ['ps'], { signal: bound() })).stdout), /tail/);
    await tasks.delete('slow');
  });

  test('a command whose caller has disconnected is killed with all that it started', async () => {
    const { tasks, harness, start } = context();
    await start('left', forever);
    const caller = new AbortController();
    const command = ['sh', '-c', `sleep ${harness.mark} & sleep ${harness.mark}`];
    const running = tasks.execSync('left', command, { signal: caller.signal });
    await waitFor(() => harness.processesWith(harness.mark).length > 1 || undefined, {
      intervalMs: 5,
      signal: bound(),
    });
    caller.abort(new PodwrightError('cancelled', 'the client has disconnected'));
    await assert.rejects(running, failsAs('cancelled'));
    assert.deepEqual(harness.processesWith(harness.mark), []);
    await assert.rejects(tasks.execSync('left', ['true'], { signal: caller.signal }), failsAs('cancelled'));
    await tasks.delete('left');
  });

  test('output is stored up to 16 MiB, and the command exits by itself', async () => {
    const { tasks, start } = context();
    await start('loud', forever);
    const command = ['sh', '-c', 'head -c 20000000 /dev/zero; exit 3'];
    const { stdout, exitCode } = await tasks.execSync('loud', command, { signal: bound() });
    assert.deepEqual([stdout.length, exitCode], [16 << 20, 3]);
    await tasks.delete('loud');
  });
}

function streamTests(context: () => SuiteContext): void {
  const session = (id: string, command: string[], terminal = false, signal = bound()) =>
    context().tasks.exec(id, { command, terminal, signal });

  test('streams work in both directions, end separately, and the exit code is returned', async () => {
    const { tasks, start } = context();
    await start('streams', forever);
    const { stdin, stdout, stderr, exit } = await session('streams', ['sh', '-c', 'cat; echo end >&2; exit 6']);
    const sent = Buffer.alloc(1_000_000, 'abcdefg\n');
    stdin.end(sent);
    const [out, err, { exitCode }] = await Promise.all([text(stdout), text(stderr!), exit]);
    assert.equal(out, sent.toString());
    assert.deepEqual([err, exitCode], ['end\n', 6]);
    await tasks.delete('streams');
  });

  test('a terminal can be resized, echoes, and sends interrupts', async () => {
    const { tasks, start } = context();
    await start('terminal', forever);
    const program = 'trap "echo caught; exit 8" INT; while read word; do echo "got $word"; stty size; done';
    const shell = await session('terminal', ['sh', '-c', program], true);
    assert.equal(shell.stderr, undefined);
    shell.resize(123, 45);
    const seen = reader(shell.stdout);
    await waitFor(
      async () => {
        shell.stdin.write('size\n'); // the new size reaches the task's own terminal a moment later
        await seen.next(/size\r\ngot size\r\n/);
        return (await seen.next(/(stty: .*|\d+ \d+)\r\n/))[1] === '45 123' || undefined;
      },
      { intervalMs: 50, signal: bound() },
    );
    shell.stdin.write('\x03');
    await seen.next(/caught\r\n/);
    assert.equal((await shell.exit).exitCode, 8);
    await tasks.delete('terminal');
  });

  test('a terminal passes much input and output', async () => {
    const { tasks, start } = context();
    await start('paste', forever);
    const shell = await session('paste', ['sh', '-c', 'stty raw -echo; echo ready; head -c 300000'], true);
    const seen = reader(shell.stdout);
    await seen.next(/ready\r?\n/);
    shell.stdin.write('x'.repeat(300_000));
    await shell.exit;
    await finished(shell.stdout);
    assert.equal(seen.rest().replaceAll(/[^x]/g, '').length, 300_000);
    await tasks.delete('paste');
  });

  test('a terminal returns all output of a command, even if it leaves its input unread', async () => {
    const { tasks, start } = context();
    await start('unread', forever);
    const command = ['sh', '-c', 'stty raw -echo; echo ready; sleep 0.2; head -c 70000 /dev/zero; exit 3'];
    const { stdin, stdout, exit } = await session('unread', command, true);
    stdin.write('x'.repeat(1_000_000));
    const output = text(stdout); // if it were not read, the command would block
    assert.equal((await exit).exitCode, 3);
    assert.equal((await output).replaceAll(/[^\0]/g, '').length, 70_000);
    await tasks.delete('unread');
  });

  test('a terminal has the usual settings, and passes three megabytes completely', async () => {
    const { tasks, start } = context();
    await start('settings', forever);
    const { stdout, exit } = await session('settings', ['sh', '-c', 'stty -a; seq 1 400000'], true);
    const lines = (await text(stdout)).split('\r\n');
    const settings = lines.slice(0, -400_001).join(' ').split(' ');
    for (const setting of ['icrnl', 'opost', 'onlcr', 'isig', 'icanon', 'echo'])
      assert.ok(settings.includes(setting), settings.join(' '));
    const numbers = Array.from({ length: 400_000 }, (_, index) => `${index + 1}`);
    assert.deepEqual(lines.slice(-400_001), [...numbers, '']);
    assert.equal((await exit).exitCode, 0);
    await tasks.delete('settings');
  });

  for (const terminal of [false, true])
    test(`when the client disconnects, the command is killed${terminal ? ', also on a terminal' : ''}`, async () => {
      const { tasks, harness, start } = context();
      const id = `gone-${terminal}`;
      await start(id, forever);
      const abort = new AbortController();
      const { exit, stdout } = await session(
        id,
        ['sh', '-c', `sleep ${harness.mark} & sleep ${harness.mark}`],
        terminal,
        abort.signal,
      );
      stdout.resume();
      abort.abort(new Error('the client has disconnected'));
      await exit;
      await waitFor(() => harness.processesWith(harness.mark).length === 0 || undefined, {
        intervalMs: 10,
        signal: bound(),
      });
      await tasks.delete(id);
    });

  test('a terminal whose client reads nothing delays neither the exit of the task nor its deletion, and loses no output', async () => {
    const { harness, start, restart } = context();
    const blocked = async (id: string) => {
      await start(id, ['sh', '-c', 'trap "exit 4" TERM; while :; do sleep 0.05; done']);
      const tasks = await restart();
      const command = ['sh', '-c', `stty raw; exec seq ${harness.mark}`];
      const running = await tasks.exec(id, { command, terminal: true, signal: bound() });
      await waitsForReader(harness, `seq ${harness.mark}`);
      return { tasks, running };
    };
    const { tasks, running } = await blocked('unread-exit');
    const exit = exitOf(tasks, 'unread-exit');
    await tasks.kill('unread-exit', 'TERM');
    assert.equal((await exit).exitCode, 4);
    await running.exit;
    const numbers = (await text(running.stdout)).split('\n').slice(0, -1);
    assert.ok(numbers.length > 1000);
    assert.deepEqual(
      numbers,
      Array.from(numbers, (_, index) => `${index + 1}`),
    );
    await tasks.delete('unread-exit');

    const deleted = await blocked('unread-delete');
    const startedAtMs = performance.now();
    await deleted.tasks.delete('unread-delete');
    const tookMs = performance.now() - startedAtMs;
    assert.ok(tookMs < 5_000, `${tookMs}`);
    await deleted.running.exit;
    assert.deepEqual(harness.processesWith(`seq ${harness.mark}`), []);
  });

  test('a command that is not in the image is an error, with and without a terminal', async () => {
    const { tasks, start } = context();
    await start('no-command', forever);
    for (const terminal of [false, true]) await assert.rejects(session('no-command', ['nope'], terminal), isNotFound);
    await tasks.delete('no-command');
  });
}

function attachTests(context: () => SuiteContext): void {
  test('an attach session connects to the first process, with separate streams', async () => {
    const { tasks, harness } = context();
    await tasks.create(
      harness.config('attached', ['sh', '-c', 'while read line; do echo "got $line"; echo bad >&2; done'], {
        stdin: true,
        stdinOnce: true,
      }),
      bound(),
    );
    const { stdin, stdout, stderr } = await tasks.attach('attached', bound());
    await tasks.start('attached');
    stdin.end('one\ntwo\n');
    assert.deepEqual(await Promise.all([text(stdout), text(stderr!)]), ['got one\ngot two\n', 'bad\nbad\n']);
    assert.equal((await exitOf(tasks, 'attached')).exitCode, 0);
    await tasks.delete('attached');
  });

  test('stdin stays open for the next attach session, unless it is for one only', async () => {
    const { tasks, start } = context();
    await start('again', ['sh', '-c', 'while read line; do echo "got $line"; done'], { stdin: true, stdinOnce: false });
    for (const word of ['first', 'second']) {
      const abort = new AbortController();
      const { stdin, stdout } = await tasks.attach('again', abort.signal);
      stdin.write(`${word}\n`);
      await reader(stdout).next(new RegExp(`got ${word}\n`));
      abort.abort(new Error('detached'));
    }
    assert.equal((await tasks.state('again')).status, 'running');
    await tasks.delete('again');
    await start('once', ['sh', '-c', 'while read line; do echo "got $line"; done; exit 4'], {
      stdin: true,
      stdinOnce: true,
    });
    const only = new AbortController();
    const { stdin, stdout } = await tasks.attach('once', only.signal);
    stdin.write('first\n');
    await reader(stdout).next(/got first\n/);
    only.abort(new Error('detached'));
    assert.equal((await exitOf(tasks, 'once')).exitCode, 4);
    await tasks.delete('once');
  });

  test('an attach session without stdin leaves the stdin of a task unchanged', async () => {
    const { tasks, start } = context();
    const command = ['sh', '-c', 'while read line; do echo "got $line"; done; echo over'];
    await start('watched', command, { stdin: true, stdinOnce: true });
    const abort = new AbortController();
    const watcher = await tasks.attach('watched', abort.signal, { stdin: false });
    watcher.stdin.end();
    const { stdin, stdout } = await tasks.attach('watched', bound());
    const seen = reader(stdout);
    stdin.write('one\n');
    await reader(watcher.stdout).next(/got one\n/);
    abort.abort(new Error('seen enough'));
    stdin.write('two\n');
    await seen.next(/got two\n/);
    stdin.end();
    await seen.next(/over\n/);
    assert.equal((await exitOf(tasks, 'watched')).exitCode, 0);
    await tasks.delete('watched');
  });

  test('an attach session resizes the terminal', async () => {
    const { tasks, start } = context();
    await start('attached-terminal', ['sh'], { stdin: true, terminal: true });
    const { stdin, stdout, stderr, resize } = await tasks.attach('attached-terminal', bound());
    assert.equal(stderr, undefined);
    for (const columns of [80, 90, 100]) resize(columns, 50);
    resize(101, 51);
    const seen = reader(stdout);
    await waitFor(
      async () => {
        stdin.write('stty size\n');
        return (await seen.next(/\n(stty: .*|\d+ \d+)\r\n/))[1] === '51 101' || undefined;
      },
      { intervalMs: 50, signal: bound() },
    );
    stdin.write('exit 3\n');
    assert.equal((await exitOf(tasks, 'attached-terminal')).exitCode, 3);
    await tasks.delete('attached-terminal');
  });

  test('much output arrives completely, at the pace of its reader', async () => {
    const { tasks, harness } = context();
    const command = ['sh', '-c', 'read go; head -c 5000000 /dev/zero; sleep 0.3'];
    await tasks.create(harness.config('flood', command, { stdin: true, stdinOnce: true, logPath: '' }), bound());
    const { stdin, stdout } = await tasks.attach('flood', bound());
    await tasks.start('flood');
    stdin.write('go\n');
    let size = 0;
    for await (const chunk of stdout) size += (chunk as Buffer).length;
    assert.equal(size, 5_000_000);
    await tasks.delete('flood');
  });
}

function slowClientTests(context: () => SuiteContext): void {
  const script = (output: string) => ['sh', '-c', `read go; ${output}; exit 3`];
  const attached = async (id: string, output: string) => {
    const { tasks, start } = context();
    await start(id, script(output), { stdin: true, stdinOnce: false });
    const { stdin, stdout } = await tasks.attach(id, bound());
    stdin.write('go\n');
    return { tasks, stdout };
  };

  test('an attached client that reads nothing is disconnected with an error, and the task continues', async () => {
    const { tasks, stdout } = await attached('observed', 'head -c 20000000 /dev/zero; read more');
    const reader = await tasks.attach('observed', bound());
    reader.stdout.resume();
    await assert.rejects(finished(stdout), failsAs('resource_exhausted'));
    const exit = exitOf(tasks, 'observed');
    reader.stdin.write('more\n');
    assert.equal((await exit).exitCode, 3);
    await finished(reader.stdout);
    await tasks.delete('observed');
  });

  test('an attached client that reads nothing does not delay the exit of a task, and gets its last output', async () => {
    const { tasks, stdout } = await attached('late-reader', 'head -c 3000000 /dev/zero');
    assert.equal((await exitOf(tasks, 'late-reader')).exitCode, 3);
    await tasks.delete('late-reader');
    assert.equal((await text(stdout)).length, 3_000_000);
  });
}

/** Waits until the processes with this text in their command line are blocked on writing, because their output is not being read. */
async function waitsForReader(harness: TaskRuntimeHarness, commandLine: string): Promise<void> {
  let writtenBefore: string | undefined;
  const isBlocked = async () => {
    const pids = harness.processesWith(commandLine).map((line) => Number.parseInt(line, 10));
    const counters = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/io`, 'utf8').catch(() => '')));
    const written = counters
      .join('')
      .match(/^wchar: [1-9]\d*$/gm)
      ?.join();
    const isSame = written !== undefined && written === writtenBefore;
    writtenBefore = written;
    return isSame || undefined;
  };
  await waitFor(isBlocked, { intervalMs: 300, signal: bound() });
}

function logTests(context: () => SuiteContext): void {
  const line = (stream: string, tag: string, text: string) => new RegExp(`^\\S+T\\S+ ${stream} ${tag} ${text}$`, 'm');

  test('output is logged in the CRI format', async () => {
    const { tasks, harness, start } = context();
    const { logPath } = harness.config('logged', forever);
    await start('logged', ['sh', '-c', 'echo out; echo err >&2; printf partial']);
    await exitOf(tasks, 'logged');
    const log = await readFile(logPath, 'utf8');
    assert.match(log, line('stdout', 'F', 'out'));
    assert.match(log, line('stderr', 'F', 'err'));
    assert.match(log, line('stdout', '[PF]', 'partial'));
    await tasks.delete('logged');
  });

  test('a renamed log is created again by a reopen', async () => {
    const { tasks, harness, start } = context();
    const { logPath } = harness.config('rotated', forever);
    await start('rotated', ['sh', '-c', 'while read line; do echo "$line"; done'], { stdin: true });
    const { stdin, stdout } = await tasks.attach('rotated', bound());
    stdout.resume(); // output is read at the pace of the attach sessions
    const logged = (path: string, word: string) =>
      waitFor(async () => (await readFile(path, 'utf8').catch(() => '')).includes(word) || undefined, {
        intervalMs: 10,
        signal: bound(),
      });
    stdin.write('before\n');
    await logged(logPath, 'before');
    await rename(logPath, `${logPath}.1`);
    await tasks.reopenLog('rotated', logPath);
    await waitFor(() => stat(logPath).catch(() => undefined), { intervalMs: 10, signal: bound() });
    stdin.write('after\n');
    await logged(logPath, 'after');
    assert.ok(!(await readFile(`${logPath}.1`, 'utf8')).includes('after'));
    await tasks.delete('rotated');
  });

  test('a log whose directory was removed is created again by a reopen, and the task keeps running', async () => {
    const { tasks, harness, start } = context();
    const { logPath: unnested } = harness.config('cleaned', forever);
    const logPath = join(dirname(unnested), 'cleaned-pod/c/0.log');
    await mkdir(dirname(logPath), { recursive: true });
    await start('cleaned', ['sh', '-c', 'while :; do echo again; sleep 0.05; done'], { logPath });
    await rm(dirname(dirname(logPath)), { recursive: true });
    await tasks.reopenLog('cleaned', logPath);
    await waitFor(async () => (await readFile(logPath, 'utf8').catch(() => '')).includes('again') || undefined, {
      intervalMs: 10,
      signal: bound(),
    });
    assert.equal((await tasks.state('cleaned')).status, 'running');
    await tasks.delete('cleaned');
  });

  test('a task whose log cannot be reopened continues to write to the old log', async () => {
    const { tasks, harness, start } = context();
    const { logPath: unnested } = harness.config('unloggable', forever);
    const directory = join(dirname(unnested), 'unloggable-pod');
    const logPath = join(directory, '0.log');
    await mkdir(directory, { recursive: true });
    await start('unloggable', ['sh', '-c', 'while :; do echo again; sleep 0.05; done'], { logPath });
    const old = `${directory}-old`;
    await rename(directory, old);
    await writeFile(directory, ''); // a file: no log can be created below it
    await assert.rejects(tasks.reopenLog('unloggable', logPath));
    const { size } = await stat(join(old, '0.log'));
    await waitFor(async () => (await stat(join(old, '0.log'))).size > size + 200 || undefined, {
      intervalMs: 10,
      signal: bound(),
    });
    assert.equal((await tasks.state('unloggable')).status, 'running');
    await tasks.delete('unloggable');
  });

  test('without a log path nothing is written', async () => {
    const { tasks, harness, start } = context();
    const directory = dirname(harness.config('silent', forever).logPath);
    const before = await readdir(directory);
    await start('silent', ['sh', '-c', 'echo out'], { logPath: '' });
    assert.equal((await exitOf(tasks, 'silent')).exitCode, 0);
    assert.deepEqual(await readdir(directory), before);
    await tasks.delete('silent');
  });
}

/** Reads a stream. Each call of `next` waits for a pattern in the output that follows the previous match. */
function reader(stream: Readable): { next(pattern: RegExp): Promise<RegExpExecArray>; rest(): string } {
  let unread = '';
  stream.on('data', (chunk) => {
    unread += String(chunk);
  });
  return {
    next: (pattern) =>
      waitFor(
        () => {
          const found = pattern.exec(unread);
          if (found === null) return undefined;
          unread = unread.slice(found.index + found[0].length);
          return found;
        },
        { intervalMs: 5, signal: bound() },
      ),
    rest: () => unread,
  };
}
