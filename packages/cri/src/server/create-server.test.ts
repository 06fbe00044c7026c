import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Logger, PodwrightError, Registry, silentLogger, sleep } from '@podwright/base';
import { type CallContext, handleService } from '@podwright/grpc';
import { connectCri } from '../client/connect.ts';
import { ImageTransfers } from '../messages.ts';
import { type CriServerOptions, createCriServer } from './create-server.ts';
import type { ImageHandlers, RuntimeHandlers } from './handlers.ts';

type Setup = Omit<Partial<CriServerOptions>, 'handlers'> & {
  runtime?: Partial<RuntimeHandlers>;
  image?: Partial<ImageHandlers>;
};

/** Starts a CRI server, and a client connected to it. */
async function start(t: TestContext, { runtime, image = {}, ...options }: Setup) {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-server-'));
  const socket = join(directory, 'cri.sock');
  const version = async () => ({ version: '0.1.0' });
  const handlers = { runtime: { version, ...runtime }, image };
  const server = await createCriServer({ socket, handlers, logger: silentLogger, ...options });
  const client = await connectCri({ runtimeEndpoint: server.endpoint, logger: silentLogger });
  t.after(async () => {
    client.close();
    await server.close(0);
    await rm(directory, { recursive: true });
  });
  return { server, client, socket };
}

/** Waits for the signal of a call to abort, and returns the abort reason. */
const abortOf = async ({ signal }: CallContext): Promise<unknown> => {
  if (!signal.aborted) await once(signal, 'abort');
  return signal.reason;
};

const never = (): Promise<never> => new Promise(() => undefined);

test('only root may open the socket, and closing removes it', async (t) => {
  const { server, socket } = await start(t, {});
  assert.equal((await stat(socket)).mode & 0o777, 0o600);
  await server.close();
  await server.close();
  await assert.rejects(stat(socket), { code: 'ENOENT' });
});

test('a handler receives its call’s context', async (t) => {
  let context: CallContext | undefined;
  const { client } = await start(t, {
    runtime: {
      status: async (_request, given) => {
        context = given;
        return {};
      },
    },
  });
  await client.runtime.status({});
  assert.equal(context?.service, 'runtime.v1.RuntimeService');
  assert.equal(context.method, 'Status');
});

test('calls with a deadline of more than a month, or none, are answered', async (t) => {
  // takes longer than a deadline whose timer overflows: it would fire after 1 ms or a quarter of a second
  const status = async (_request: unknown, { signal }: CallContext) => {
    await sleep(300, signal);
    return {};
  };
  const { client } = await start(t, { runtime: { status } });
  const day = 24 * 3_600_000;
  const timeouts = [100 * day, 49.71026 * day, 30 * day, 24 * day, Number.POSITIVE_INFINITY];
  await Promise.all(timeouts.map((timeoutMs) => client.runtime.status({}, { timeoutMs })));
});

test('closing one of two servers does not affect long deadlines of the other', async (t) => {
  const status = async (_request: unknown, { signal }: CallContext) => {
    await sleep(20, signal);
    return {};
  };
  const [first, second] = [await start(t, {}), await start(t, { runtime: { status } })];
  await first.server.close(0);
  await second.client.runtime.status({}, { timeoutMs: 100 * 24 * 3_600_000 });
});

test('a call’s signal aborts at its deadline and when its client disconnects', async (t) => {
  const reasons: unknown[] = [];
  const status = async (_request: unknown, context: CallContext) => {
    reasons.push(await abortOf(context));
    return {};
  };
  const { client } = await start(t, { runtime: { status } });
  await assert.rejects(client.runtime.status({}, { timeoutMs: 30 }), { code: 'deadline_exceeded' });
  await assert.rejects(client.runtime.status({}, { signal: AbortSignal.timeout(30) }));
  await client.runtime.version({});
  assert.deepEqual(
    reasons.map((reason) => (reason as PodwrightError).code),
    ['deadline_exceeded', 'cancelled'],
  );
});

test('the signal of an answered call never aborts', async (t) => {
  const signals: AbortSignal[] = [];
  const status = async (_request: unknown, { signal }: CallContext) => {
    signals.push(signal);
    return {};
  };
  async function* streamContainers(_request: unknown, { signal }: CallContext) {
    signals.push(signal);
    yield {};
  }
  const { client, server } = await start(t, { runtime: { status, streamContainers } });
  await client.runtime.status({}, { timeoutMs: 40 });
  for await (const _ of client.runtime.streamContainers({}, { timeoutMs: 40 }));
  await sleep(60); // longer than the deadlines were
  await server.close(0);
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [false, false],
  );
});

test('errors reach the client with their code; errors other than PodwrightError are UNKNOWN', async (t) => {
  const failures: Error[] = [
    new PodwrightError('failed_precondition', 'container is running'),
    new PodwrightError('internal', 'create sandbox s1', { cause: new Error('disk full') }),
    new TypeError('cannot read properties of undefined'),
    new PodwrightError('internal', `half a character \ud800 ${'x'.repeat(10_000)}`),
  ];
  const { client } = await start(t, {
    runtime: {
      status: async () => {
        throw failures.shift();
      },
    },
  });
  const check = (expected: object) => assert.rejects(client.runtime.status({}), expected);
  await check({ code: 'failed_precondition', message: 'container is running' });
  await check({ code: 'internal', message: 'create sandbox s1: disk full' });
  await check({ code: 'unknown', message: 'cannot read properties of undefined' });
  await check({ code: 'internal', message: /^half a character \ufffd x{4000,}…$/ });
});

test('a response that cannot be sent is an error, not a hanging call', async (t) => {
  const status = async () => ({ info: { big: 'x'.repeat(17 << 20) } });
  const execSync = async () => ({ exitCode: 2 ** 40 });
  const { client } = await start(t, { runtime: { status, execSync } });
  await assert.rejects(client.runtime.execSync({}), { code: 'internal', message: /^encode ExecSyncResponse: / });
  await assert.rejects(client.runtime.status({}), { code: 'resource_exhausted', message: /16777216/ });
});

test('a stream ends with its iterable, and the iterable’s finally runs if the client leaves early', async (t) => {
  const left = Promise.withResolvers<void>();
  async function* getContainerEvents(_request: unknown, { signal }: CallContext) {
    try {
      yield { containerId: 'c1' };
      await sleep(60_000, signal);
    } finally {
      left.resolve();
    }
  }
  async function* streamContainers() {
    yield { containers: [{ id: 'a' }] };
    yield { containers: [{ id: 'b' }] };
    throw new PodwrightError('aborted', 'the store changed');
  }
  const { client } = await start(t, { runtime: { getContainerEvents, streamContainers } });
  for await (const { containerId } of client.runtime.getContainerEvents({})) {
    assert.equal(containerId, 'c1');
    break;
  }
  await left.promise;
  const ids: string[] = [];
  await assert.rejects(
    async () => {
      for await (const { containers } of client.runtime.streamContainers({})) ids.push(containers[0]!.id);
    },
    { code: 'aborted', message: 'the store changed' },
  );
  assert.deepEqual(ids, ['a', 'b']);
});

test('closing lets calls finish, ends streams, and aborts calls that take too long', async (t) => {
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const status = async () => {
    begun.resolve();
    await release.promise;
    return { info: { finished: 'yes' } };
  };
  async function* getContainerEvents() {
    yield { containerId: 'c1' };
    await never();
  }
  const { client, server } = await start(t, { runtime: { status, getContainerEvents, execSync: never } });
  const call = client.runtime.status({});
  const stuck = client.runtime.execSync({ containerId: 'c1', cmd: ['sleep'] });
  const watching = (async () => {
    for await (const _ of client.runtime.getContainerEvents({}));
  })();
  await begun.promise;
  const closed = server.close(500);
  await assert.rejects(watching, { code: 'unavailable', message: 'the server is closing' });
  release.resolve();
  assert.equal((await call).info.finished, 'yes');
  await assert.rejects(stuck, { code: 'unavailable' });
  await closed;
});

test('extra services are served alongside the CRI', async (t) => {
  const handlers = handleService(ImageTransfers, {
    async *watch() {
      yield { reference: 'busybox', phase: 'downloading', doneBytes: 5n, totalBytes: 10n };
    },
    save: async ({ references }) => {
      throw new PodwrightError('not_found', `no image ${references.join()}`);
    },
  });
  const { client } = await start(t, { extraServices: [handlers] });
  for await (const progress of client.transfers.watch({})) assert.equal(progress.doneBytes, 5n);
  await assert.rejects(client.transfers.save({ references: ['x'] }), { code: 'not_found', message: 'no image x' });
});

test('calls are counted and logged, without secrets', async (t) => {
  const metrics = new Registry();
  const lines: string[] = [];
  const write = (fields: object) => void lines.push(JSON.stringify(fields));
  const logger: Logger = { ...silentLogger, debug: write, info: write, warn: write };
  const pullImage = async () => ({ imageRef: 'sha256:1' });
  const createContainer = async () => {
    throw new PodwrightError('not_found', 'no sandbox s1');
  };
  const { client } = await start(t, { image: { pullImage }, runtime: { createContainer }, metrics, logger });
  const auth = { username: 'me', password: 'hunter2', registryToken: 'hunter3' };
  await client.image.pullImage({ image: { image: 'busybox' }, auth });
  const envs = [{ key: 'TOKEN', value: Buffer.from('hunter4') }];
  await assert.rejects(client.runtime.createContainer({ podSandboxId: 's1', config: { envs } }));

  const log = lines.join('\n');
  assert.match(log, /runtime\.v1\.ImageService\/PullImage.*busybox.*"username":"me"/);
  assert.match(log, /CreateContainer.*"code":"not_found".*"podSandboxId":"s1".*"key":"TOKEN"/);
  assert.match(log, /"code":"not_found","error":"no sandbox s1"/);
  assert.doesNotMatch(log, /hunter|aHVudGVy/);
  const text = await metrics.metrics();
  assert.match(
    text,
    /^grpc_server_handled_total\{grpc_service="runtime.v1.RuntimeService",grpc_method="CreateContainer",grpc_code="not_found"\} 1$/m,
  );
  assert.match(
    text,
    /^grpc_server_handling_seconds_count\{grpc_service="runtime.v1.ImageService",grpc_method="PullImage"\} 1$/m,
  );
});
