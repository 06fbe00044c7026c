import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { OciSpec } from '@podwright/oci';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { commitSpec, readSpec } from '../tasks/bundle.ts';
import type { TaskConfig, TaskRuntime } from '../tasks/task-runtime.ts';
import { InfraProcess } from './infra-process.ts';

const state = mkdtempSync(join(tmpdir(), 'infra-process-test-'));
after(() => rmSync(state, { recursive: true }));
const bundle = join(state, 'tasks', 's');
const sandbox = { id: 's', config: { runtimeHandler: '' } } as SandboxRecord;
const spec: OciSpec = {
  ociVersion: '1.0.2',
  process: { terminal: false, user: { uid: 0, gid: 0 }, args: ['init'], env: [], cwd: '/' },
  root: { path: '/r', readonly: true },
  mounts: [],
  linux: { namespaces: [], cgroupsPath: '/c' },
};

function processOn(changes: Partial<TaskRuntime>): InfraProcess {
  const tasks = {
    delete: async () => undefined,
    start: async () => undefined,
    onExit: () => ({ [Symbol.dispose]: () => undefined }),
    ...changes,
  };
  return new InfraProcess({ tasks: tasks as unknown as TaskRuntime, state });
}
const start = (process: InfraProcess) => process.start(sandbox, spec, AbortSignal.timeout(60_000));

test('the process runs the committed spec from its bundle, and stopping it removes the bundle', async () => {
  const created: TaskConfig[] = [];
  const process = processOn({
    create: async (config) => {
      created.push(config);
      assert.deepEqual(readSpec(config.bundle), spec);
      return { pid: 7 };
    },
  });
  assert.equal(await start(process), 7);
  assert.deepEqual(
    created.map((config) => config.bundle),
    [bundle],
  );
  assert.ok(existsSync(bundle));
  await process.stop('s');
  assert.ok(!existsSync(bundle));
});

for (const verb of ['create', 'start'] as const) {
  test(`a failed ${verb} leaves no bundle`, async () => {
    const create = async () => ({ pid: 7 });
    await assert.rejects(start(processOn({ create, [verb]: () => Promise.reject(new Error('injected failure')) })), {
      message: 'injected failure',
    });
    assert.ok(!existsSync(bundle));
  });
}

test('a stop removes the bundle of a start that was interrupted before the task was created', async () => {
  commitSpec(bundle, spec);
  await processOn({}).stop('s');
  assert.ok(!existsSync(bundle));
});

test('the PID of the process is cached until it exits or is stopped', async () => {
  let end = () => {};
  const exited: string[] = [];
  const process = processOn({
    create: async () => ({ pid: 7 }),
    onExit: (_id, listener) => {
      end = () => listener({ exitCode: 0, exitedAtMs: 0, oomKilled: false });
      return { [Symbol.dispose]: () => undefined };
    },
  });
  process.onExit((id) => exited.push(id));
  assert.equal(process.watchedPid('s'), undefined);
  await start(process);
  assert.equal(process.watchedPid('s'), 7);
  end();
  assert.equal(process.watchedPid('s'), undefined);
  assert.deepEqual(exited, ['s']);
  await start(process);
  await process.stop('s');
  assert.equal(process.watchedPid('s'), undefined);
});
