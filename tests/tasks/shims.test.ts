import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { AnySchema, anyPack } from '@bufbuild/protobuf/wkt';
import { errorCode, errorMessage, silentLogger, waitFor } from '@podwright/base';
import { TaskOOMSchema } from '../../packages/shim/src/gen/containerd/events/task_pb.js';
import { Status } from '../../packages/shim/src/gen/containerd/v1/types/task_pb.js';
import type { Shim } from '../../packages/shim/src/shim.ts';
import { socketPath } from '../../packages/shim/src/shim-endpoint.ts';
import type { ShimEvent } from '../../packages/shim/src/shim-events.ts';
import { Shims } from '../../packages/shim/src/shims.ts';
import { makeScratch, processesWith, type Scratch, shimProgram, testSpec } from './fixture.ts';

const bound = () => AbortSignal.timeout(60_000);

describe('containerd-shim-runc-v2', () => {
  let scratch: Scratch;
  let shims: Shims;
  const received: ShimEvent[] = [];
  before(async () => {
    scratch = makeScratch();
    shims = await Shims.open({ state: join(scratch.directory, 'shims'), logger: silentLogger });
    shims.events.subscribe((event) => received.push(event));
  });
  after(async () => {
    await shims.close();
    await scratch.remove();
  });

  /** Writes a bundle for a task that runs `args`. */
  const prepare = (id: string, args: string[], annotations = {}) => {
    const bundle = shims.bundle(id);
    mkdirSync(bundle, { recursive: true });
    writeFileSync(join(bundle, 'config.json'), JSON.stringify({ ...testSpec(scratch, id, args), annotations }));
    return { program: shimProgram(scratch), id, bundle };
  };
  const create_ = (call: { id: string; bundle: string }) => {
    const options = shimProgram(scratch).options!;
    return { ...call, options: { typeUrl: options.typeUrl, value: Buffer.from(options.value, 'base64') } };
  };
  /** Shuts down a shim, which might exit before it responds. */
  const shutDown = async (shim: Shim, id: string) => {
    await shim.tasks.shutdown({ id }).catch((error) => assert.ok(!shim.isOpen, errorMessage(error)));
  };
  const remove = async ({ bundle }: { bundle: string }) => {
    await shims.removeSocket(bundle); // shims of containerd 2 leave the socket behind if their id is not their group's
    shims.forget(bundle);
    rmSync(bundle, { recursive: true });
  };

  test('a shim runs a task, publishes its exit, and is found again after a restart', async () => {
    const call = prepare('found', ['sh', '-c', 'exit 3']);
    const shim = await shims.start(call, bound());
    const { pid } = await shim.tasks.create(create_(call));
    shim.close();
    const again = await shims.load(call.bundle, bound());
    assert.ok(again !== undefined);
    assert.equal((await again.tasks.state({ id: call.id })).status, Status.CREATED);
    await again.tasks.start({ id: call.id });
    assert.equal((await again.tasks.wait({ id: call.id })).exitStatus, 3);
    const event = await waitFor(() => received.find((event) => event.kind === 'exit' && event.taskId === 'found'), {
      intervalMs: 10,
      signal: bound(),
    });
    assert.deepEqual(
      { ...event, exitedAtMs: 0 },
      { kind: 'exit', taskId: 'found', processId: 'found', pid, exitCode: 3, exitedAtMs: 0 },
    );
    await again.tasks.delete({ id: call.id });
    await shutDown(again, call.id);
    await again.closed;
    assert.equal(await shims.load(call.bundle, bound()), undefined);
    await remove(call);
  });

  test('tasks in a pod share one shim', async () => {
    const pod = { 'io.kubernetes.cri.sandbox-id': `pod-${scratch.cgroupParent.slice(1)}` };
    const calls = ['one', 'two'].map((id) => prepare(id, ['sleep', '1000'], pod));
    const [first, second] = [await shims.start(calls[0]!, bound()), await shims.start(calls[1]!, bound())];
    assert.deepEqual(first.endpoint, second.endpoint);
    await first.tasks.create(create_(calls[0]!));
    await first.tasks.shutdown({ id: 'one' }); // the shim still has a task
    await second.tasks.delete({ id: 'one' });
    await shutDown(second, 'one');
    await Promise.all([first.closed, second.closed]);
    for (const call of calls) await remove(call);
  });

  test('leftovers of a killed shim are removed, including its socket', async () => {
    const call = prepare('killed', ['sleep', '1000']);
    const shim = await shims.start(call, bound());
    await shim.tasks.create(create_(call));
    await shim.tasks.start({ id: call.id });
    const { shimPid } = await shim.tasks.connect({ id: call.id });
    process.kill(shimPid, 'SIGKILL');
    await shim.closed;
    await assert.rejects(shim.tasks.state({ id: call.id }), (error) => errorCode(error) === 'unavailable');
    assert.equal(await shims.load(call.bundle, bound()), undefined);
    assert.equal((await shims.cleanUp(call, bound())).exitCode, 137);
    assert.ok(!existsSync(socketPath(shim.endpoint.address)));
    await remove(call);
  });

  test('a shim that cannot start is an error with its message', async () => {
    const call = prepare('bad', ['true']);
    rmSync(join(call.bundle, 'config.json'));
    await assert.rejects(shims.start(call, bound()), /config\.json/);
    await remove(call);
  });

  test('events from the publish binary are received too', async () => {
    const event = anyPack(TaskOOMSchema, create(TaskOOMSchema, { containerId: 'published' }));
    const args = ['--address', '/x', 'publish', '--topic', '/tasks/oom', '--namespace', 'podwright'];
    execFileSync(shims.home.publisher, args, { input: toBinary(AnySchema, event) });
    await waitFor(() => received.find(({ taskId }) => taskId === 'published'), { intervalMs: 10, signal: bound() });
  });

  test('nothing is left running', async () => {
    await waitFor(() => processesWith(scratch.directory).length === 0 || undefined, {
      intervalMs: 20,
      signal: bound(),
    });
  });
});
