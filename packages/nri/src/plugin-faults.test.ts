/** Plugins that hang, crash, or send invalid data. None of them may hold up pods for longer than the timeout. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { TtrpcConnection } from '@podwright/ttrpc';
import { AdaptationUnderTest, containerSource, podSource } from './adaptation.fixture.ts';
import { Event, Plugin, Runtime } from './gen/nri/v1alpha1/services_pb.js';
import { Multiplexer, RUNTIME_SERVICE } from './multiplexer.ts';
import { basics, rawPlugin, registerRaw } from './raw-plugin.fixture.ts';

const QUICK = { timeouts: { registrationTimeoutMs: 300, requestTimeoutMs: 300 } };

test('a plugin that hangs in a hook is disconnected after the timeout, and the pod continues', async () => {
  await using host = await new AdaptationUnderTest(QUICK).listen();
  await host.plugin('10-hangs', { runPodSandbox: () => new Promise(() => undefined) });
  await host.adaptation.runPodSandbox(podSource('p'));
  assert.deepEqual(host.adaptation.plugins, []);
  await host.adaptation.runPodSandbox(podSource('q'));
});

test('a thousand events wait for a hanging plugin only once', async () => {
  await using host = await new AdaptationUnderTest(QUICK).listen();
  await host.plugin('10-hangs', { runPodSandbox: () => new Promise(() => undefined) });
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: 1000 }, (_, number) => host.adaptation.runPodSandbox(podSource(`p${number}`))),
  );
  assert.ok(performance.now() - startedAt < 3000);
});

test('a plugin that disconnects in a hook does not fail the pod', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const plugin = await host.plugin('10-crashes', {
    createContainer: () => {
      plugin.close();
      return { adjust: { annotations: { a: '1' } } };
    },
  });
  assert.equal(await host.adaptation.createContainer(containerSource('c')), undefined);
});

test('a validator that hangs counts as a rejection, so an unchecked adjustment is not made', async () => {
  await using host = await new AdaptationUnderTest(QUICK).listen();
  await host.plugin('10-hangs', { validateContainerAdjustment: () => new Promise(() => undefined) });
  await assert.rejects(
    host.adaptation.createContainer(containerSource('c')),
    /rejected by 10-hangs: it did not respond/,
  );
});

test('a plugin that never registers is disconnected', async () => {
  await using host = await new AdaptationUnderTest(QUICK).listen();
  const socket = connect(host.socket);
  const closed = Promise.withResolvers<void>();
  socket.on('close', () => closed.resolve()).on('error', () => undefined);
  await closed.promise;
});

test('a malformed name or index is refused', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const register = async (pluginName: string, pluginIdx: string) => {
    const multiplexer = new Multiplexer(connect(host.socket));
    const runtime = new TtrpcConnection(multiplexer.open(RUNTIME_SERVICE)).client(Runtime);
    await assert.rejects(runtime.registerPlugin({ pluginName, pluginIdx }));
    multiplexer.close();
  };
  await register('a/b', '10');
  await register('a', '1');
  await register('', '10');
});

test('garbage on a connection disconnects only that plugin', async () => {
  await using host = await new AdaptationUnderTest(QUICK).listen();
  await host.plugin('10-good', { runPodSandbox: () => undefined });
  const { socket } = await rawPlugin(host, { name: '50-bad', handlers: basics });
  socket.write(Buffer.alloc(1 << 16, 0xff));
  await host.until(() => host.adaptation.plugins.join() === '10-good');
  await host.adaptation.runPodSandbox(podSource('p'));
});

test('a response that is not a valid message fails the request, but not the plugin', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const wrong = { ...Plugin.method.createContainer, output: Runtime.method.registerPlugin.input };
  const handlers = { ...basics, createContainer: async () => ({ pluginName: '\u0012\u0013garbage' }) };
  const methods = Plugin.methods.map((method) => (method.localName === 'createContainer' ? wrong : method));
  const { socket } = await rawPlugin(host, { name: '50-a', handlers, methods: methods as never });
  await assert.rejects(host.adaptation.createContainer(containerSource('c')));
  assert.deepEqual(host.adaptation.plugins, ['50-a']);
  socket.destroy();
});

test('a response over 4 MiB fails the request', async () => {
  await using host = await new AdaptationUnderTest(QUICK).listen();
  await host.plugin('10-large', {
    createContainer: () => ({ adjust: { annotations: { a: 'x'.repeat(5 << 20) } } }),
  });
  await assert.rejects(host.adaptation.createContainer(containerSource('c')), /over 4 MiB/);
});

test('a response of almost 4 MiB is accepted', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const text = 'x'.repeat((4 << 20) - 1000);
  await host.plugin('10-large', { createContainer: () => ({ adjust: { annotations: { text } } }) });
  const adjust = await host.adaptation.createContainer(containerSource('c'));
  assert.equal(adjust?.annotations.text?.length, text.length);
});

test('a plugin older than version 0.12 receives events through StateChange', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const seen: string[] = [];
  await rawPlugin(host, {
    name: '50-old',
    handlers: {
      ...basics,
      createContainer: async () => ({ adjust: { annotations: { old: 'yes' } } }),
      updateContainer: async () => ({}),
      stopContainer: async () => void seen.push('StopContainer'),
      stateChange: async ({ event, pod }: { event: Event; pod: { id: string } }) => {
        seen.push(`${Event[event]} ${pod.id}`);
        return {};
      },
    },
  });
  const container = containerSource('c');
  await host.adaptation.runPodSandbox(podSource('pod'));
  await host.adaptation.updatePodSandbox(podSource('pod'), () => ({}) as never); // it has no such event
  const adjust = await host.adaptation.createContainer(container);
  await host.adaptation.notifyContainer('postCreateContainer', container);
  await host.adaptation.startContainer(container);
  await host.adaptation.removeContainer(container);
  assert.deepEqual(adjust?.annotations, { old: 'yes' });
  const expected = ['RUN_POD_SANDBOX', 'POST_CREATE_CONTAINER', 'START_CONTAINER'].map((event) => `${event} pod`);
  assert.deepEqual(seen, [...expected, 'StopContainer', 'REMOVE_CONTAINER pod']);
});

test('a plugin that accepts only one Synchronize message is rejected if there are more', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const annotations = { text: 'x'.repeat(3 << 20) };
  for (const id of ['c', 'd']) host.containers.push(containerSource(id, { annotations }));
  for (const container of host.containers) await host.adaptation.createContainer(container);
  const { closed } = await registerRaw(host, { name: '50-old', handlers: basics });
  await closed;
  assert.deepEqual(host.adaptation.plugins, []);
});
