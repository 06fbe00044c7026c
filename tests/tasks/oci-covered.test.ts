import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { discoverCgroups, runProgram, startByFork } from '@podwright/host';
import { loadSystem, readMounts } from '@podwright/system';
import { startedByOthers, startedHere } from '../../packages/runtime/src/oci-runtime/covered-call.ts';
import { fastOci } from '../../packages/runtime/src/oci-runtime/oci-fast-paths.ts';
import type { OciProgram } from '../../packages/runtime/src/oci-runtime/oci-program.ts';
import { commitSpec } from '../../packages/runtime/src/tasks/bundle.ts';
import { startExec } from '../../packages/runtime/src/tasks/oci/exec-process.ts';
import type { TaskRuntime } from '../../packages/runtime/src/tasks/task-runtime.ts';
import { findProgram, makeScratch, openTasks, type Scratch, testSpec, workingCrun } from './fixture.ts';

const bound = () => AbortSignal.timeout(60_000);
const system = loadSystem();
const namespaces = { system, logger: silentLogger };
let scratch: Scratch;
let tree: string;
/**
 * crun with a directory that is covered by a mount: the cgroup tree if this host requires that, otherwise a directory created by the test.
 */
let crun: OciProgram;

before(async () => {
  scratch = makeScratch();
  const found = await workingCrun(scratch, fastOci);
  tree = found.covered?.tree ?? join(scratch.directory, 'tree');
  if (found.covered === undefined) {
    mkdirSync(tree);
    system.mount(tree, { source: 'proc', type: 'proc', flags: 0 });
  }
  const nsenter = findProgram('nsenter');
  crun = { ...found, covered: found.covered ?? { tree, path: found.path, nsenter } };
});
after(async () => {
  if (tree.startsWith(scratch.directory)) system.unmount(tree);
  await scratch.remove();
});

async function start(tasks: TaskRuntime, id: string): Promise<void> {
  const bundle = join(scratch.directory, 'bundles', id);
  const config = { terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
  const spec = testSpec(scratch, id, ['sleep', '1000']);
  commitSpec(bundle, spec);
  await tasks.create({ ...config, id, bundle, spec }, bound());
  await tasks.start(id);
}

const echo = async (tasks: TaskRuntime, id: string) =>
  String((await tasks.execSync(id, ['echo', 'here'], { signal: bound() })).stdout);

/**
 * Returns the test's processes, and this process's file descriptors, that are in a mount namespace in which crun's covered directory is
 * covered.
 */
function covered(): string[] {
  const read = (path: string, reader: (path: string) => string) => {
    try {
      return reader(path);
    } catch {
      return ''; // the process has exited
    }
  };
  const link = (name: string) => read(`/proc/self/fd/${name}`, (path) => readlinkSync(path));
  const text = (path: string) => read(path, (file) => readFileSync(file, 'utf8'));
  const isOurs = (pid: string) => /^\d+$/.test(pid) && text(`/proc/${pid}/cmdline`).includes(scratch.directory);
  const mountsOf = (pid: string) => text(`/proc/${pid}/mountinfo`);
  return [
    ...readdirSync('/proc/self/fd').filter((name) => link(name).startsWith('mnt:')),
    ...readdirSync('/proc').filter((pid) => isOurs(pid) && mountsOf(pid).includes(` ${tree} rw,relatime - tmpfs `)),
  ];
}

test('a task and fifty commands in it leave no mount namespace behind, and this process’s view is unchanged', async () => {
  const onTree = () => readMounts().filter(({ mountPoint }) => mountPoint.startsWith(tree));
  const seen = onTree();
  const tasks = await openTasks(scratch, crun, { fastPaths: fastOci });
  try {
    await start(tasks, 'covered');
    for (let round = 0; round < 10; round++) {
      const said = await Promise.all(Array.from({ length: 5 }, () => echo(tasks, 'covered')));
      assert.deepEqual(new Set(said), new Set(['here\n']));
    }
    await waitFor(() => covered().length === 0 || undefined, { intervalMs: 5, signal: bound() });
    assert.deepEqual(onTree(), seen);
  } finally {
    await tasks.delete('covered');
    tasks.close();
  }
});

test('a command’s OCI runtime is in a covered namespace until the command exits, but its task’s monitor is not', async () => {
  const tasks = await openTasks(scratch, crun, { fastPaths: fastOci });
  try {
    await start(tasks, 'later');
    const { stdin, stdout, exit } = await tasks.exec('later', { command: ['cat'], terminal: false, signal: bound() });
    stdout.resume();
    assert.equal(covered().length, 2); // crun, and the descriptor of this process
    stdin.end();
    await exit;
    await waitFor(() => covered().length === 0 || undefined, { intervalMs: 5, signal: bound() });
  } finally {
    await tasks.delete('later');
    tasks.close();
  }
});

test('tasks of an earlier version, whose records have only the wrapper, can be used and removed', async () => {
  const { covered: _covered, ...program } = crun;
  const earlier = await openTasks(scratch, program, { fastPaths: fastOci });
  await start(earlier, 'earlier');
  earlier.close();
  const record = JSON.parse(readFileSync(join(scratch.directory, 'state/records/earlier.json'), 'utf8'));
  assert.deepEqual(record.program, program);
  const tasks = await openTasks(scratch, crun, { fastPaths: fastOci });
  try {
    assert.equal((await tasks.state('earlier')).status, 'running');
    assert.equal(await echo(tasks, 'earlier'), 'here\n');
    await tasks.update('earlier', { pids: { limit: 50 } });
  } finally {
    await tasks.delete('earlier');
    tasks.close();
  }
});

test('an earlier version can read the records of this one, which have the wrapper', async () => {
  const tasks = await openTasks(scratch, crun, { fastPaths: fastOci });
  await start(tasks, 'newer');
  tasks.close();
  const path = join(scratch.directory, 'state/records/newer.json');
  const { covered: _covered, ...program } = crun;
  const record = JSON.parse(readFileSync(path, 'utf8'));
  assert.deepEqual(record.program, crun);
  writeFileSync(path, JSON.stringify({ ...record, program }));
  const earlier = await openTasks(scratch, program, { fastPaths: fastOci });
  try {
    assert.equal(await echo(earlier, 'newer'), 'here\n');
  } finally {
    await earlier.delete('newer');
    earlier.close();
  }
});

test('an OCI runtime that starts after this process was killed finds no namespace, and is not executed', async () => {
  const mark = join(scratch.directory, 'started');
  const touch: OciProgram = {
    name: 'touch',
    path: 'no',
    covered: { tree, path: findProgram('touch'), nsenter: findProgram('nsenter') },
  };
  const call = startedByOthers(touch, namespaces);
  const late = () => runProgram(call.program.path, [...(call.program.args ?? []), mark]);
  assert.deepEqual([(await late()).exitCode, readdirSync(scratch.directory).includes('started')], [0, true]);
  call[Symbol.dispose]();
  await waitFor(() => covered().length === 0 || undefined, { intervalMs: 1, signal: bound() });
  const { exitCode, stderr } = await runProgram(call.program.path, [...(call.program.args ?? []), `${mark}-late`]);
  assert.notEqual(exitCode, 0);
  assert.match(stderr, /^nsenter: /);
  assert.ok(!readdirSync(scratch.directory).includes('started-late'));
});

test('a trial chooses the covered namespace if a directory must be covered, and the wrapper if that does not work', async () => {
  const { mode } = await discoverCgroups();
  assert.equal((await workingCrun(scratch, fastOci)).covered !== undefined, mode === 'hybrid');
  const other = makeScratch();
  const { PATH } = process.env;
  try {
    writeFileSync(join(other.directory, 'nsenter'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    process.env.PATH = `${other.directory}:${PATH}`;
    const { covered, stateFormat, ...wrapper } = await workingCrun(other, fastOci);
    const { name, path, args } = crun;
    assert.deepEqual([covered, stateFormat, wrapper], [undefined, 'crun', { name, path, ...(args && { args }) }]);
  } finally {
    process.env.PATH = PATH;
    await other.remove();
  }
});

test('a directory that cannot be covered fails the call before anything is started', () => {
  const program = { name: 'crun', path: 'no', covered: { tree: scratch.directory, path: 'no', nsenter: 'no' } };
  assert.throws(() => startedByOthers(program, namespaces), { code: 'invalid_argument' });
  assert.throws(() => startedHere({ program, start: startByFork }, namespaces), { code: 'invalid_argument' });
  assert.deepEqual(covered(), []);
});

test('a command whose OCI runtime fails to start leaves no namespace behind', async () => {
  const config = join(scratch.directory, 'config.json');
  writeFileSync(config, JSON.stringify(testSpec(scratch, 'none', ['true'])));
  const start = () => {
    throw new Error('too many open files');
  };
  const runtime = { ...crun, root: scratch.directory };
  const request = { start, runtime, config, pidFile: join(scratch.directory, 'pid'), id: 'none', command: ['true'] };
  assert.throws(() => startExec({ ...request, ...namespaces }, ['ignore', 'pipe', 'pipe']), /too many/);
  await waitFor(() => covered().length === 0 || undefined, { intervalMs: 1, signal: bound() });
});
