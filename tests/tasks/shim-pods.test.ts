import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { commitSpec } from '../../packages/runtime/src/tasks/bundle.ts';
import type { TaskRuntime } from '../../packages/runtime/src/tasks/task-runtime.ts';
import { makeScratch, openShims, processesWith, type Scratch, testSpec } from './fixture.ts';

const bound = () => AbortSignal.timeout(60_000);
const seconds = { intervalMs: 20, signal: bound() };

describe('the containers of a pod share a shim', () => {
  let scratch: Scratch;
  let tasks: TaskRuntime;
  before(async () => {
    scratch = makeScratch();
    tasks = await openShims(scratch);
  });
  after(async () => {
    tasks.close();
    await scratch.remove();
  });

  const start = async (id: string, pod: string, args = ['sleep', '1000']) => {
    const spec = { ...testSpec(scratch, id, args), annotations: { 'io.kubernetes.cri.sandbox-id': pod } };
    const options = { terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
    const bundle = join(scratch.directory, 'bundles', id);
    commitSpec(bundle, spec);
    await tasks.create({ ...options, id, bundle, spec }, bound());
    await tasks.start(id);
  };
  const shims = () => processesWith(`-address ${scratch.directory}`);
  const bundles = () => readdirSync(join(scratch.directory, 'shims', 'bundles'));

  test('until the last task is deleted, even if the first one is deleted first and the runtime is restarted', async () => {
    await Promise.all([start('first', 'pod'), start('second', 'pod')]);
    await start('alone', 'other-pod');
    assert.equal(shims().length, 2);
    await tasks.delete('first');
    await start('third', 'pod');
    assert.equal(
      String((await tasks.execSync('second', ['echo', 'here'], { signal: AbortSignal.timeout(60_000) })).stdout),
      'here\n',
    );
    tasks.close();
    tasks = await openShims(scratch);
    await start('fourth', 'pod', ['sh', '-c', 'exit 3']);
    assert.equal(shims().length, 2);
    for (const id of ['second', 'third', 'fourth']) await tasks.delete(id);
    assert.deepEqual(bundles().sort(), ['alone', 'other-pod']);
    await waitFor(() => shims().length === 1 || undefined, seconds);
    await tasks.delete('alone');
    assert.deepEqual(bundles(), []);
    await waitFor(() => shims().length === 0 || undefined, seconds);
  });

  test('all tasks are lost with it, and new ones can be created once they are deleted', async () => {
    await Promise.all([start('one', 'pod'), start('two', 'pod')]);
    process.kill(Number.parseInt(shims()[0]!, 10), 'SIGKILL');
    for (const id of ['one', 'two'])
      await waitFor(async () => (await tasks.state(id)).status === 'exited' || undefined, seconds);
    await tasks.delete('one');
    await start('three', 'pod');
    assert.equal((await tasks.state('three')).status, 'running');
    for (const id of ['two', 'three']) await tasks.delete(id);
    assert.deepEqual(bundles(), []);
  });

  test('a shim that does not respond is killed when its last task is deleted', async () => {
    await start('stuck', 'pod');
    const pid = Number.parseInt(shims()[0]!, 10);
    process.kill(pid, 'SIGSTOP');
    await tasks.delete('stuck');
    assert.deepEqual(bundles(), []);
    await waitFor(() => shims().length === 0 || undefined, seconds);
  });
});
