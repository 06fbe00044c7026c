import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client, credentials, Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';
import {
  errorCode,
  isUnimplemented,
  newTrace,
  PodwrightError,
  type Span,
  silentLogger,
  Tracer,
  waitFor,
} from '@podwright/base';
import { grpcServiceDefinition } from '@podwright/grpc';
import { create, ImageService, RuntimeService, VersionRequestSchema } from '../messages.ts';
import { type CriServerOptions, createCriServer } from '../server/create-server.ts';
import { type ConnectOptions, connectCri } from './connect.ts';

const logger = silentLogger;

async function scratch(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-cri-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

async function serve(t: TestContext, options: Partial<CriServerOptions> & { socket: string }) {
  const version = async () => ({ version: '0.1.0', runtimeName: 'ours' });
  const server = await createCriServer({ logger, handlers: { runtime: { version }, image: {} }, ...options });
  t.after(() => server.close(0));
  return server;
}

async function client(t: TestContext, options: Partial<ConnectOptions> & { runtimeEndpoint: string }) {
  const connected = await connectCri({ logger, ...options });
  t.after(() => connected.close());
  return connected;
}

/** Simulates another vendor's runtime: a plain grpc-js server that records the calls it receives. */
async function foreignRuntime(t: TestContext, socket: string, packageName: string) {
  const calls: string[] = [];
  const server = new Server();
  for (const service of [RuntimeService, ImageService]) {
    const definition = grpcServiceDefinition(service, { packageName });
    const answer = (name: string) => (_call: unknown, reply: (error: object | null, value?: object) => void) => {
      calls.push(name);
      if (name === 'status') reply({ code: status.UNIMPLEMENTED, details: 'Status: not in this runtime' });
      else if (name === 'updatePodSandboxResources') reply({ code: status.UNKNOWN, details: 'not implemented' });
      else reply(null, {});
    };
    server.addService(definition, Object.fromEntries(Object.keys(definition).map((name) => [name, answer(name)])));
  }
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    );
  });
  t.after(() => server.forceShutdown());
  return calls;
}

test('a call within a trace propagates it, and the server records a span', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  const spans: Span[] = [];
  const serverTracer = new Tracer((span) => spans.push(span));
  const status = () => serverTracer.span('inner', async () => ({}));
  await serve(t, {
    socket,
    tracer: serverTracer,
    handlers: { runtime: { version: async () => ({}), status }, image: {} },
  });
  const tracer = new Tracer(() => undefined);
  const { runtime } = await client(t, { runtimeEndpoint: socket, tracer, apiVersion: 'v1' });
  await runtime.status({});
  assert.equal(spans.length, 0);
  for (const sampled of [true, false]) {
    const trace = newTrace(sampled);
    await tracer.within(trace, () => runtime.status({}));
    const [inner, call] = spans.splice(0);
    assert.deepEqual([call?.name, call?.traceId, call?.parentId], ['Status', trace.traceId, trace.spanId]);
    assert.deepEqual([inner?.name, inner?.traceId, inner?.parentId], ['inner', trace.traceId, call?.spanId]);
    assert.deepEqual([call?.sampled, call?.isServer], [sampled, true]);
    assert.equal(call?.attributes?.['rpc.service'], 'runtime.v1.RuntimeService');
  }
});

test('an invalid trace context is ignored', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  const spans: Span[] = [];
  await serve(t, { socket, tracer: new Tracer((span) => spans.push(span)) });
  const grpc = new Client(`unix:${socket}`, credentials.createInsecure());
  t.after(() => grpc.close());
  const { version } = grpcServiceDefinition(RuntimeService);
  const call = (header: string) =>
    new Promise<void>((resolve, reject) => {
      const metadata = new Metadata();
      metadata.set('traceparent', header);
      const { path, requestSerialize, responseDeserialize } = version!;
      const message = create(VersionRequestSchema);
      grpc.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, metadata, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  for (const header of ['', 'x', 'x'.repeat(6000), `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`]) await call(header);
  assert.equal(spans.length, 0);
  await call(`00-${'1'.repeat(32)}-${'1'.repeat(16)}-01`);
  assert.equal(spans.length, 1);
});

test('v1 is used if the runtime serves it', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  await foreignRuntime(t, socket, 'runtime.v1');
  assert.equal((await client(t, { runtimeEndpoint: socket })).apiVersion, 'v1');
});

test('a runtime may report an unimplemented call only in the message', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  await foreignRuntime(t, socket, 'runtime.v1');
  const cri = await client(t, { runtimeEndpoint: socket });
  const call = cri.runtime.updatePodSandboxResources({ podSandboxId: 's' });
  await assert.rejects(call, { code: 'unimplemented', message: 'not implemented' });
});

test('v1alpha2 is used if there is no v1, for all later calls', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  const calls = await foreignRuntime(t, socket, 'runtime.v1alpha2');
  const cri = await client(t, { runtimeEndpoint: `unix://${socket}` });
  assert.equal(cri.apiVersion, 'v1alpha2');
  await assert.rejects(cri.runtime.status({}), { code: 'unimplemented', message: 'Status: not in this runtime' });
  await cri.image.listImages({});
  assert.deepEqual(calls, ['version', 'status', 'listImages']);
});

test('an UNIMPLEMENTED call does not change the negotiated version', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  const cri = await client(t, { runtimeEndpoint: (await serve(t, { socket })).endpoint });
  await assert.rejects(cri.runtime.status({}), {
    message: 'method Status of runtime.v1.RuntimeService is not implemented',
  });
  assert.equal((await cri.runtime.version({})).runtimeName, 'ours');
  await assert.rejects(cri.transfers.save({}), isUnimplemented);
});

test('errors other than UNIMPLEMENTED do not make the client try v1alpha2', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  const calls: string[] = [];
  const version = async (_request: unknown, { service }: { service: string }) => {
    calls.push(service);
    throw new PodwrightError('internal', 'still starting');
  };
  await serve(t, { socket, handlers: { runtime: { version }, image: {} } });
  await assert.rejects(connectCri({ runtimeEndpoint: socket, logger, connectTimeoutMs: 200 }), {
    code: 'unavailable',
    message: /still starting \(tried for 200 ms\)/,
  });
  assert.deepEqual(new Set(calls), new Set(['runtime.v1.RuntimeService']));
});

test('the runtime’s last error is reported even if a later attempt times out', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  let isFirst = true;
  const version = async (_request: unknown, { signal }: { signal: AbortSignal }) => {
    if (!isFirst) await once(signal, 'abort');
    isFirst = false;
    throw new PodwrightError('internal', 'still starting');
  };
  await serve(t, { socket, handlers: { runtime: { version }, image: {} } });
  await assert.rejects(connectCri({ runtimeEndpoint: socket, logger, connectTimeoutMs: 500 }), {
    code: 'unavailable',
    message: /still starting \(tried for 500 ms\)/,
  });
});

test('an endpoint that is not a CRI runtime is reported as such', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  await foreignRuntime(t, socket, 'other.v1');
  await assert.rejects(connectCri({ runtimeEndpoint: socket, logger }), {
    code: 'unimplemented',
    message: /serves no CRI RuntimeService \(asked for v1 and v1alpha2\)/,
  });
});

test('the client waits for a runtime that starts later', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  const connecting = client(t, { runtimeEndpoint: socket, connectTimeoutMs: 5000 });
  await serve(t, { socket });
  assert.equal((await connecting).apiVersion, 'v1');
});

test('a runtime that never starts is reported with its endpoint and the reason', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  await assert.rejects(connectCri({ runtimeEndpoint: socket, logger, connectTimeoutMs: 100 }), {
    code: 'unavailable',
    message: `connect to the container runtime at unix://${socket}: no such file or directory (tried for 100 ms); is it running?`,
  });
});

test('waiting for a runtime can be aborted', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  const connecting = connectCri({ runtimeEndpoint: socket, logger, signal: AbortSignal.timeout(50) });
  await assert.rejects(connecting, { name: 'TimeoutError' });
});

test('the client reconnects to a restarted runtime', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  const first = await serve(t, { socket });
  const cri = await client(t, { runtimeEndpoint: socket });
  await first.close(0);
  await assert.rejects(cri.runtime.version({}), { code: 'unavailable' });
  await serve(t, { socket });
  const again = () => cri.runtime.version({}).catch(() => undefined);
  await waitFor(again, { intervalMs: 10, signal: AbortSignal.timeout(4000) });
});

test('images may have a separate endpoint', async (t) => {
  const directory = await scratch(t);
  const runtime = await serve(t, { socket: join(directory, 'runtime.sock') });
  const pullImage = async () => ({ imageRef: 'from the image endpoint' });
  const imageFsInfo = async () => ({});
  const handlers = { runtime: {}, image: { pullImage, imageFsInfo } };
  const image = await serve(t, { socket: join(directory, 'image.sock'), handlers });
  const cri = await client(t, { runtimeEndpoint: runtime.endpoint, imageEndpoint: image.endpoint });
  assert.equal((await cri.image.pullImage({})).imageRef, 'from the image endpoint');
  assert.equal((await cri.runtime.version({})).runtimeName, 'ours');
});

test('a call ends at its deadline, or with its signal’s reason', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  const never = () => new Promise<never>(() => undefined);
  const version = async () => ({ version: '0.1.0' });
  await serve(t, { socket, handlers: { runtime: { version, status: never }, image: {} } });
  const cri = await client(t, { runtimeEndpoint: socket });
  await assert.rejects(cri.runtime.status({}, { timeoutMs: 50 }), { code: 'deadline_exceeded' });
  const controller = new AbortController();
  const call = cri.runtime.status({}, { signal: controller.signal });
  controller.abort(new PodwrightError('aborted', 'changed my mind'));
  await assert.rejects(call, { message: 'changed my mind' });
  await assert.rejects(cri.runtime.status({}, { signal: controller.signal }), { message: 'changed my mind' });
});

test('errors carry the runtime’s code and message unchanged', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  const words = 'name "web_default_0" is reserved for "ü%41\n"';
  const version = async () => ({ version: '0.1.0' });
  const runPodSandbox = async () => {
    throw new PodwrightError('already_exists', words);
  };
  await serve(t, { socket, handlers: { runtime: { version, runPodSandbox }, image: {} } });
  const cri = await client(t, { runtimeEndpoint: socket });
  await assert.rejects(cri.runtime.runPodSandbox({}), {
    name: 'PodwrightError',
    code: 'already_exists',
    message: words,
  });
});

test('a stream that fails before it is read rejects its reader and does not end the process', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  await serve(t, { socket });
  const cri = await client(t, { runtimeEndpoint: socket });
  const events = cri.runtime.getContainerEvents({});
  await cri.runtime.version({});
  await assert.rejects(async () => {
    for await (const event of events) assert.fail(`unexpected ${event.containerId}`);
  }, isUnimplemented);
});

test('an aborted stream ends with the signal’s reason', async (t) => {
  const socket = join(await scratch(t), 'cri.sock');
  const version = async () => ({ version: '0.1.0' });
  async function* getContainerEvents() {
    yield { containerId: 'c1' };
    await new Promise(() => undefined);
  }
  await serve(t, { socket, handlers: { runtime: { version, getContainerEvents }, image: {} } });
  const cri = await client(t, { runtimeEndpoint: socket });
  const controller = new AbortController();
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { containerId } of cri.runtime.getContainerEvents({}, { signal: controller.signal })) {
      seen.push(containerId);
      controller.abort();
    }
  })();
  await assert.rejects(reading, (error) => errorCode(error) === 'cancelled');
  assert.deepEqual(seen, ['c1']);
});
