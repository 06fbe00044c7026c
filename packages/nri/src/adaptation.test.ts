import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DescMessage, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { errorCode } from '@podwright/base';
import { AdaptationUnderTest, containerSource, podSource } from './adaptation.fixture.ts';
import { ContainerSchema, LinuxResourcesSchema, PodSandboxSchema } from './gen/nri/v1alpha1/container_pb.js';
import { create } from './messages.ts';

test('plugins receive the events of a pod in index order, with their configuration first', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const seen: string[] = [];
  const handlers = (name: string) => ({
    configure: ({ runtimeName, runtimeVersion, nriVersion, requestTimeoutMs }: Record<string, unknown>) =>
      void seen.push(`${name} ${runtimeName} ${runtimeVersion} ${nriVersion} ${requestTimeoutMs}`),
    runPodSandbox: ({ pod }: { pod?: { id: string } }) => void seen.push(`${name} run ${pod?.id}`),
    stopPodSandbox: ({ pod }: { pod?: { id: string } }) => void seen.push(`${name} stop ${pod?.id}`),
    removePodSandbox: ({ pod }: { pod?: { id: string } }) => void seen.push(`${name} remove ${pod?.id}`),
  });
  await host.plugin('20-late', handlers('late'));
  await host.plugin('10-early', handlers('early'));
  const pod = podSource('p');
  await host.adaptation.runPodSandbox(pod);
  await host.adaptation.stopPodSandbox(pod);
  await host.adaptation.stopPodSandbox(pod);
  await host.adaptation.removePodSandbox(pod);
  const facts = 'test 1.2.3 v0.12.0 2000';
  const events = ['run p', 'stop p', 'remove p'].flatMap((event) => [`early ${event}`, `late ${event}`]);
  assert.deepEqual(seen, [`late ${facts}`, `early ${facts}`, ...events]);
});

test('adjustments of several plugins are merged, and each sees those of earlier ones', async () => {
  await using host = await new AdaptationUnderTest().listen();
  await host.plugin('10-a', {
    createContainer: () => ({
      adjust: {
        annotations: { a: '1' },
        env: [{ key: 'A', value: '1' }],
        linux: { resources: { cpu: { cpus: '0' } } },
      },
      update: [{ containerId: 'other', linux: { resources: { cpu: { cpus: '1' } } } }],
    }),
  });
  const seen: string[] = [];
  await host.plugin('20-b', {
    createContainer: ({ container }) => {
      seen.push(container!.annotations.a!, ...container!.env, container!.linux!.resources!.cpu!.cpus);
      return {
        adjust: { annotations: { b: '2' }, linux: { resources: { memory: { limit: { value: 5n } } } } },
        evict: [{ containerId: 'old', reason: 'room' }],
      };
    },
  });
  const adjust = await host.adaptation.createContainer(containerSource('c', { env: ['B=0'] }));
  assert.deepEqual(seen, ['1', 'B=0', 'A=1', '0']);
  assert.deepEqual(adjust?.annotations, { a: '1', b: '2' });
  assert.equal(adjust?.linux?.resources?.cpu?.cpus, '0');
  assert.equal(adjust?.linux?.resources?.memory?.limit?.value, 5n);
  assert.deepEqual(
    host.updated.map(({ id, resources }) => [id, resources.cpu?.cpus]),
    [['other', '1']],
  );
  assert.deepEqual(host.evicted, ['old']);
});

test('the pod and the container of an event are encoded once for all plugins', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const seen: string[] = [];
  for (const name of ['10-a', '20-b'])
    await host.plugin(name, {
      createContainer: ({ pod, container }) => {
        seen.push(`${name} ${pod?.name} ${container?.name}`);
        return { adjust: {} };
      },
    });
  const { encoded, calls } = countedEncoding();
  const container = containerSource('c');
  const adjust = await host.adaptation.createContainer({
    ...container,
    message: () => assert.fail('nothing is adjusted'),
    encoded: () => encoded(ContainerSchema, container.message()),
    pod: { ...container.pod, encoded: () => encoded(PodSandboxSchema, container.pod.message()) },
  });
  assert.equal(adjust, undefined);
  assert.deepEqual(
    [seen, calls],
    [
      ['10-a pod c', '20-b pod c'],
      ['PodSandbox', 'Container'],
    ],
  );
});

test('two plugins that set the same field conflict, which fails the creation', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const handlers = { createContainer: () => ({ adjust: { annotations: { a: '1' } } }) };
  await host.plugin('10-a', handlers);
  await host.plugin('20-b', handlers);
  await assert.rejects(
    host.adaptation.createContainer(containerSource('c')),
    /^PodwrightError: plugins "20-b" and "10-a" both set Annotations a$/,
  );
});

test('a plugin error fails pod creations and starts, but not stops and removals', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const fails = () => Promise.reject(new Error('no'));
  const handlers = { runPodSandbox: fails, stopPodSandbox: fails, createContainer: fails, removeContainer: fails };
  await host.plugin('10-a', handlers);
  await assert.rejects(host.adaptation.runPodSandbox(podSource('p')), /no/);
  await assert.rejects(host.adaptation.createContainer(containerSource('c')), /no/);
  await host.adaptation.removeContainer(containerSource('c'));
  await host.adaptation.removePodSandbox(podSource('p'));
});

test('a plugin may change a container update, and update other containers', async () => {
  await using host = await new AdaptationUnderTest().listen();
  await host.plugin('10-a', {
    updateContainer: ({ linuxResources }) => ({
      update: [
        { containerId: 'c', linux: { resources: { cpu: { cpus: '0' } } } },
        { containerId: 'd', linux: { resources: { cpu: { shares: linuxResources!.cpu!.shares! } } } },
      ],
    }),
  });
  const requested = create(LinuxResourcesSchema, { cpu: { shares: { value: 7n } } });
  const changed = await host.adaptation.updateContainer(containerSource('c'), requested);
  assert.deepEqual([changed?.cpu?.cpus, changed?.cpu?.shares?.value], ['0', 7n]);
  assert.deepEqual(
    host.updated.map(({ id, resources }) => [id, resources.cpu?.shares?.value]),
    [['d', 7n]],
  );
});

test('a plugin may update containers at any time', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const plugin = await host.plugin('10-a', { startContainer: () => undefined });
  const failed = await plugin.update([{ containerId: 'c', linux: { resources: { cpu: { cpus: '0' } } } }]);
  assert.deepEqual([failed, host.updated.map(({ id }) => id)], [[], ['c']]);
});

test('a new plugin is synchronized with the state that earlier plugins have seen, without missing or duplicate containers', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const blocked = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  await host.plugin('10-first', {
    createContainer: async ({ container }) => {
      if (container!.id !== 'during') return undefined;
      entered.resolve();
      await blocked.promise;
      return undefined;
    },
  });
  const containers = ['before', 'during', 'after'].map((id) => containerSource(id));
  host.containers.push(...containers); // all have records, as those whose creation is in progress
  await host.adaptation.createContainer(containers[0]!);
  const during = host.adaptation.createContainer(containers[1]!);
  await entered.promise;
  const synchronized: string[] = [];
  const created: string[] = [];
  const joining = host.plugin('20-second', {
    synchronize: (_pods, list) => {
      synchronized.push(...list.map(({ id }) => id));
      return [];
    },
    createContainer: ({ container }) => void created.push(container!.id),
  });
  blocked.resolve();
  await Promise.all([during, joining]);
  await host.adaptation.createContainer(containers[2]!);
  assert.deepEqual([synchronized, created], [['before', 'during'], ['after']]);
});

test('a plugin is synchronized in several messages if one would be too large', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const annotations = { text: 'x'.repeat(100_000) };
  for (let number = 0; number < 100; number++) host.containers.push(containerSource(`c${number}`, { annotations }));
  for (const container of host.containers) await host.adaptation.createContainer(container);
  const seen: string[] = [];
  await host.plugin('10-a', {
    synchronize: (_pods, list) => {
      seen.push(...list.map(({ id }) => id));
      return [];
    },
    startContainer: () => undefined,
  });
  assert.deepEqual(
    seen,
    host.containers.map(({ id }) => id),
  );
});

test('no message is built if there are no plugins', async () => {
  await using host = new AdaptationUnderTest();
  const container = { ...containerSource('c'), message: () => assert.fail('a message') };
  assert.equal(await host.adaptation.createContainer(container), undefined);
  await host.adaptation.stopContainer(container);
  await host.adaptation.removeContainer(container);
});

test('no message is built for events without subscribers', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const started: string[] = [];
  await host.plugin('10-a', { startContainer: ({ container }) => void started.push(container!.id) });
  const pod = { ...podSource('pod'), message: () => assert.fail('a message') };
  const container = { ...containerSource('c', {}, pod), message: () => assert.fail('a message') };
  const { adaptation } = host;
  await adaptation.runPodSandbox(pod);
  assert.equal(await adaptation.createContainer(container), undefined);
  await adaptation.notifyContainer('postCreateContainer', container);
  await adaptation.startContainer(containerSource('c'));
  assert.equal(await adaptation.updateContainer(container, create(LinuxResourcesSchema)), undefined);
  await adaptation.stopContainer(container);
  await adaptation.removeContainer(container);
  await adaptation.removePodSandbox(pod);
  assert.deepEqual(started, ['c']);
});

test('validators see all adjustments with their owners, and may reject them', async () => {
  await using host = await new AdaptationUnderTest().listen();
  await host.plugin('10-a', { createContainer: () => ({ adjust: { hooks: { poststop: [{ path: '/bin/true' }] } } }) });
  await host.plugin('20-b', {
    validateContainerAdjustment: ({ owners, plugins, container }) => ({
      reject: true,
      reason: `${owners!.owners.c!.simple[3]} ${plugins.map(({ name }) => name)} ${container!.hooks?.poststop.length ?? 0}`,
    }),
  });
  await assert.rejects(
    host.adaptation.createContainer(containerSource('c')),
    (error) => errorCode(error) === 'failed_precondition' && /rejected by 20-b: 10-a a,b 0$/.test(String(error)),
  );
});

/** Returns a function that encodes messages, and the list of the types of those that it has encoded. */
function countedEncoding() {
  const calls: string[] = [];
  const encoded = async <S extends DescMessage>(schema: S, message: MessageShape<S> | Promise<MessageShape<S>>) => {
    calls.push(schema.name);
    return toBinary(schema, await message);
  };
  return { encoded, calls };
}
