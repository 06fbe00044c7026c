/** Records of tasks in shims: those of the previous version can be read, and a damaged record does not affect other tasks. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '@podwright/base';
import type { TaskRuntime } from '../../packages/runtime/src/tasks/task-runtime.ts';
import { makeScratch, openShims, processesWith, type Scratch, testSpec } from './fixture.ts';

const bound = () => AbortSignal.timeout(60_000);

describe("records of shims' tasks", () => {
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

  const start = async (id: string) => {
    const options = { terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
    const spec = testSpec(scratch, id, ['sleep', '1000']);
    await tasks.create({ ...options, id, bundle: join(scratch.directory, 'bundles', id), spec }, bound());
    await tasks.start(id);
  };
  const restart = async () => {
    tasks.close();
    tasks = await openShims(scratch);
  };
  const recordOf = (id: string) => join(scratch.directory, 'shim-tasks/records', `${id}.json`);
  const shimRecordOf = (id: string) => join(scratch.directory, 'shims/bundles', id, 'shim.json');
  const nothingLeft = async () => {
    assert.deepEqual(readdirSync(join(scratch.directory, 'shims/bundles')), []);
    const areGone = () => processesWith(`-address ${scratch.directory}`).length === 0 || undefined;
    await waitFor(areGone, { intervalMs: 20, signal: bound() });
  };
  const statusOf = async (id: string) => (await tasks.state(id)).status;

  test('tasks of the previous version, whose records have no version, keep running', async () => {
    await start('old');
    tasks.close();
    for (const [path, key] of [
      [recordOf('old'), 'version'],
      [shimRecordOf('old'), 'recordVersion'],
    ] as const) {
      const { [key]: version, ...record } = JSON.parse(readFileSync(path, 'utf8'));
      assert.equal(version, 1);
      writeFileSync(path, JSON.stringify(record));
    }
    tasks = await openShims(scratch);
    assert.equal(await statusOf('old'), 'running');
    await tasks.delete('old');
    assert.equal(await statusOf('old'), 'absent');
  });

  test('a task with a damaged record is killed and can be removed completely, and other tasks are served', async () => {
    await start('damaged');
    await start('sound');
    writeFileSync(recordOf('damaged'), readFileSync(recordOf('damaged')).subarray(0, 20));
    await restart();
    const ended = await waitFor(
      async () => {
        const state = await tasks.state('damaged');
        return state.status === 'exited' ? state : undefined;
      },
      { intervalMs: 20, signal: bound() },
    );
    assert.equal(ended.exit.exitCode, 137);
    assert.equal(await statusOf('sound'), 'running');
    for (const id of ['damaged', 'sound']) await tasks.delete(id);
    assert.deepEqual(await tasks.list(), []);
    await nothingLeft();
  });

  test('a task whose record cannot be rebuilt is an error with its path, and other tasks are served', async () => {
    await start('damaged');
    await start('sound');
    const path = recordOf('damaged');
    const config = join(scratch.directory, 'shims/bundles/damaged/config.json');
    const [record, spec] = [readFileSync(path), readFileSync(config)];
    writeFileSync(path, record.subarray(0, 20));
    rmSync(config);
    await restart();
    assert.equal(await statusOf('sound'), 'running');
    await tasks.delete('sound');
    const named = { code: 'data_loss', message: new RegExp(path) };
    await assert.rejects(tasks.state('damaged'), named);
    await assert.rejects(tasks.delete('damaged'), named);
    writeFileSync(path, record);
    writeFileSync(config, spec);
    await restart();
    assert.equal(await statusOf('damaged'), 'running');
    await tasks.delete('damaged');
  });

  test('a task that cannot be recovered does not block others, and can be removed completely', async () => {
    await start('broken');
    await start('sound');
    tasks.close();
    rmSync(join(scratch.directory, 'shims/bundles/broken/io/stdout'));
    tasks = await openShims(scratch);
    assert.equal(await statusOf('sound'), 'running');
    assert.equal(await statusOf('broken'), 'absent');
    for (const id of ['broken', 'sound']) await tasks.delete(id);
    await nothingLeft();
  });

  test('a task whose shim cannot be found because of a damaged record is killed, and can be removed completely', async () => {
    await start('lost');
    await start('sound');
    writeFileSync(shimRecordOf('lost'), '{"recordVersion":1,');
    rmSync(join(scratch.directory, 'shims/bundles/lost/address'), { force: true });
    await restart();
    await waitFor(async () => (await statusOf('lost')) === 'exited' || undefined, { intervalMs: 20, signal: bound() });
    assert.equal(await statusOf('sound'), 'running');
    for (const id of ['lost', 'sound']) await tasks.delete(id);
    await nothingLeft();
  });
});
