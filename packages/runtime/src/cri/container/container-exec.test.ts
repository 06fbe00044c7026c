import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { BoundedBytes } from '@podwright/base';
import { ExecSyncRequestSchema } from '@podwright/cri';
import type { ExecSyncOptions } from '../../tasks/task-runtime.ts';
import type { CriServices } from '../services/services.ts';
import { containerExecSync } from './container-exec.ts';

const CALL_BYTES = 8 << 20;
const BUDGET_BYTES = 64 << 20;

/** Creates an ExecSync handler whose commands write 8 MiB each and exit when the promise returned by `ended` settles. */
function start(ended: () => Promise<void>) {
  const execSync = async (_id: string, _command: string[], { memory, maxOutputBytes }: ExecSyncOptions) => {
    const output = new BoundedBytes(maxOutputBytes!, memory);
    output.add(Buffer.alloc(CALL_BYTES));
    await ended();
    return { stdout: output.bytes(), stderr: Buffer.alloc(0), exitCode: 0 };
  };
  const containers = { requireRunning: () => ({ id: 'c' }), find: () => undefined };
  const handler = containerExecSync({ containers, tasks: { execSync } } as unknown as CriServices);
  const call = async (limit?: string) => {
    const request = create(ExecSyncRequestSchema, { containerId: 'c', cmd: ['yes'] });
    const signal = AbortSignal.timeout(60_000);
    const { stdout } = await handler(request, { signal, service: '', method: '', header: () => limit });
    return stdout!.length;
  };
  return call;
}

const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);

test('concurrent calls share one output limit, and the first ones are complete', async () => {
  const { promise, resolve: exit } = Promise.withResolvers<void>();
  const call = start(() => promise);
  const calls = Array.from({ length: 20 }, () => call());
  exit();
  const sizes = await Promise.all(calls);
  assert.ok(sum(sizes) <= BUDGET_BYTES + 20 * 4096, `${sum(sizes)} bytes`);
  assert.deepEqual(sizes.slice(0, 8), Array(8).fill(CALL_BYTES));
  for (let count = 0; count < 20; count++) assert.equal(await call(), CALL_BYTES);
});

test('the memory of failed calls is reused by later ones', async () => {
  const { promise, reject: fail } = Promise.withResolvers<void>();
  let ended = promise;
  const call = start(() => ended);
  const calls = Array.from({ length: 20 }, () => call());
  fail(new Error('the runtime is broken'));
  for (const { status } of await Promise.allSettled(calls)) assert.equal(status, 'rejected');
  ended = Promise.resolve();
  assert.equal(await call(), CALL_BYTES);
});

test('no more output is collected than the client uses', async () => {
  const call = start(async () => undefined);
  for (const [limit, size] of [
    ['65536', 65_536],
    ['-1', CALL_BYTES],
    ['', CALL_BYTES],
  ] as const)
    assert.equal(await call(limit), size);
});
