import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fastOci } from '../../packages/runtime/src/oci-runtime/oci-fast-paths.ts';
import { commitSpec } from '../../packages/runtime/src/tasks/bundle.ts';
import { taskRuntimeSuite } from '../../packages/runtime/src/tasks/task-runtime.suite.ts';
import { makeScratch, openTasks, taskHarness, testSpec, workingCrun } from './fixture.ts';

taskRuntimeSuite('oci with crun', () => taskHarness(workingCrun));

test('a command whose child keeps its output open does not block the caller', async () => {
  const scratch = makeScratch();
  const tasks = await openTasks(scratch, await workingCrun(scratch));
  const bundle = join(scratch.directory, 'bundle');
  const config = { bundle, terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
  try {
    const spec = testSpec(scratch, 'background', ['sleep', '1000']);
    commitSpec(bundle, spec);
    await tasks.create({ ...config, id: 'background', spec }, AbortSignal.timeout(60_000));
    await tasks.start('background');
    const result = await tasks.execSync('background', ['sh', '-c', 'echo done; sleep 1000 &'], {
      signal: AbortSignal.timeout(60_000),
    });
    assert.deepEqual([String(result.stdout), result.exitCode], ['done\n', 0]);
  } finally {
    await tasks.delete('background');
    tasks.close();
    await scratch.remove();
  }
});

test('foreign files in a task’s directory are removed with it, and its bundle can be run again', async () => {
  const scratch = makeScratch();
  const tasks = await openTasks(scratch, await workingCrun(scratch));
  const [bundle, own] = [join(scratch.directory, 'bundle'), join(scratch.directory, 'state/bundles/again')];
  const spec = testSpec(scratch, 'again', ['sleep', '1000']);
  const config = { bundle, spec, terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
  commitSpec(bundle, spec);
  try {
    for (let attempt = 0; attempt < 2; attempt++) {
      await tasks.create({ ...config, id: 'again' }, AbortSignal.timeout(60_000));
      writeFileSync(join(own, 'core.1'), 'left by a program that crashed');
      mkdirSync(join(own, 'more'));
      await tasks.delete('again');
      assert.ok(!existsSync(own));
    }
  } finally {
    tasks.close();
    await scratch.remove();
  }
});

test('a task’s directories, including that of its OCI runtime, are moved to the trash as a whole', async () => {
  const scratch = makeScratch();
  const state = join(scratch.directory, 'state');
  const thrown: string[] = [];
  const throwAway = (directory: string) => {
    thrown.push(directory);
    renameSync(directory, join(scratch.directory, `thrown-${thrown.length}`));
  };
  const fastPaths = fastOci;
  const tasks = await openTasks(scratch, await workingCrun(scratch, fastPaths), { throwAway, fastPaths });
  const bundle = join(scratch.directory, 'bundle');
  const spec = testSpec(scratch, 'gone', ['sleep', '1000']);
  const config = { bundle, spec, terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
  commitSpec(bundle, spec);
  try {
    await tasks.create({ ...config, id: 'gone' }, AbortSignal.timeout(60_000));
    await tasks.start('gone');
    await tasks.delete('gone');
    assert.deepEqual(thrown, [join(state, 'crun/gone'), join(state, 'bundles/gone')]);
    assert.deepEqual(await tasks.list(), []);
    assert.ok(existsSync(join(scratch.directory, 'thrown-1/status')));
  } finally {
    tasks.close();
    await scratch.remove();
  }
});

test('tasks with the same seccomp profile share the filter that crun compiled for the first of them', async () => {
  const scratch = makeScratch();
  const fastPaths = fastOci;
  const tasks = await openTasks(scratch, await workingCrun(scratch, fastPaths), { fastPaths });
  const create = async (id: string, refused: string[]) => {
    const bundle = join(scratch.directory, `bundle-${id}`);
    const spec = testSpec(scratch, id, ['sleep', '1000']);
    const rule = { names: refused, action: 'SCMP_ACT_ERRNO', errnoRet: 1 };
    spec.linux.seccomp = { defaultAction: 'SCMP_ACT_ALLOW', syscalls: [rule] };
    commitSpec(bundle, spec);
    const config = { bundle, spec, terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
    await tasks.create({ ...config, id }, AbortSignal.timeout(60_000));
    await tasks.start(id);
  };
  const isCompiled = (id: string) =>
    readFileSync(join(scratch.directory, 'state/bundles', id, 'config.json'), 'utf8').includes('seccomp_bpf_data');
  const filter = (id: string) => readFileSync(join(scratch.directory, 'state/crun', id, 'seccomp.bpf'));
  const makes = async (id: string) => {
    const command = ['mkdir', `/tmp/${id}`];
    return (await tasks.execSync(id, command, { signal: AbortSignal.timeout(60_000) })).exitCode === 0;
  };
  const directories = ['mkdir', 'mkdirat'];
  const ids = ['first', 'second', 'other'];
  try {
    await create('first', directories);
    await create('second', directories);
    await create('other', ['sethostname']);
    assert.deepEqual(ids.map(isCompiled), [false, true, false]);
    assert.deepEqual(filter('second'), filter('first'));
    assert.notDeepEqual(filter('other'), filter('first'));
    assert.deepEqual(await Promise.all(ids.map(makes)), [false, false, true]);
  } finally {
    for (const id of ids) await tasks.delete(id);
    tasks.close();
    await scratch.remove();
  }
});
