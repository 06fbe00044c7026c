import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import { Registry, silentLogger } from '@podwright/base';
import type { SandboxConfig } from '../records/sandbox-record.ts';
import { ReadySandboxes, type ReadySandboxesDependencies, readyTarget } from './ready-sandboxes.ts';
import type { SandboxController } from './sandbox-controller.ts';

const pod = { network: 'pod', ipc: 'pod', sysctls: {} } as unknown as SandboxConfig;
const controller = { takesReadySandboxes: true } as SandboxController;
const MINUTE_MS = 60_000;

/** Creates a `ReadySandboxes` on a fake host, with mocked time. */
function open(context: TestContext, overrides: Partial<ReadySandboxesDependencies> = {}) {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  context.after(() => mock.timers.reset());
  const host = { namespaces: new Set<string>(), networks: new Set<string>(), idle: true, canAttach: true };
  const dependencies: ReadySandboxesDependencies = {
    most: 8,
    namespaces: {
      prepare: (id) => {
        host.namespaces.add(id);
        return { netnsPath: `/ns/${id}` };
      },
      release: (id) => void host.namespaces.delete(id),
    },
    network: {
      prepare: async (id) => {
        if (host.canAttach) host.networks.add(id);
        return host.canAttach;
      },
      tearDown: async ({ sandboxId }) => void host.networks.delete(sandboxId),
    },
    idleMs: () => (host.idle ? 1000 : 0),
    logger: silentLogger,
    ...overrides,
  };
  const ready = new ReadySandboxes(dependencies);
  /** Advances the clock in steps, letting all pending promises settle after each. */
  const pass = async (durationMs: number) => {
    for (let passedMs = 0; passedMs < durationMs; passedMs += 100) {
      for (let round = 0; round < 12; round++) {
        mock.timers.tick(round === 0 ? 100 : 1);
        for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      }
    }
  };
  const take = () => ready.take(pod, controller);
  return { ready, host, pass, take };
}

for (const [starts, most, target] of [
  [0, 8, 2],
  [2, 8, 2],
  [5, 8, 5],
  [30, 8, 8],
  [30, 1, 1],
  [30, 0, 0],
] as const)
  test(`${starts} pods in a minute require ${target} ready sandboxes with a maximum of ${most}`, () => {
    assert.equal(readyTarget(starts, most), target);
  });

test('the first pods get ready sandboxes, and for the next minute as many are kept ready as there were pods', async (context) => {
  const { ready, host, pass, take } = open(context);
  ready.begin({ hadPods: false });
  assert.equal(take(), undefined, 'none is ready immediately');
  await pass(1000);
  assert.equal(ready.count, 2);
  const taken = [take(), take(), take(), take()];
  assert.equal(taken.filter((id) => id !== undefined).length, 2);
  await pass(1000);
  assert.equal(ready.count, 5);
  assert.equal(host.namespaces.size, 7, 'taken ones included');
  await pass(MINUTE_MS);
  assert.equal(ready.count, 2);
  assert.equal(host.namespaces.size, 4);
});

test('ready sandboxes are prepared even while the network status is polled continuously', async (context) => {
  const { ready, pass, take } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  take();
  for (let polls = 0; polls < 20; polls++) {
    ready.onNetworkStatus({ ready: true });
    await pass(100);
  }
  assert.equal(ready.count, 2);
});

test('no sandbox is prepared while the runtime is busy', async (context) => {
  const { ready, host, pass } = open(context);
  host.idle = false;
  ready.begin({ hadPods: true });
  await pass(5000);
  assert.equal(host.namespaces.size, 0);
  host.idle = true;
  await pass(1000);
  assert.equal(ready.count, 2);
});

test('a node without pods prepares only namespaces, and links once it has had its first pod', async (context) => {
  const { ready, host, pass, take } = open(context);
  ready.begin({ hadPods: false });
  await pass(1000);
  assert.equal(host.networks.size, 0);
  const first = take();
  await pass(1000);
  assert.equal(host.networks.size, 2);
  assert.deepEqual(new Set([...host.networks, first]), host.namespaces, 'the one without a link was removed');
  assert.ok(host.networks.has(take()!));
});

test('only matching pods get a ready sandbox', async (context) => {
  const { ready, pass } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  for (const config of [
    { ...pod, network: 'node' },
    { ...pod, ipc: 'node' },
    { ...pod, userNamespace: { uids: [], gids: [] } },
    { ...pod, sysctls: { 'net.ipv4.conf.default.rp_filter': '1' } },
    { ...pod, sysctls: { 'net/ipv6/conf/all/disable_ipv6': '1' } },
  ] as SandboxConfig[])
    assert.equal(ready.take(config, controller), undefined);
  assert.equal(ready.take(pod, {} as SandboxController), undefined);
  assert.ok(ready.take({ ...pod, sysctls: { 'net.ipv4.tcp_syncookies': '0' } }, controller));
});

test('when the network changes, ready sandboxes attached to the old one are removed', async (context) => {
  const { ready, host, pass, take } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  assert.equal(host.networks.size, 2);
  host.canAttach = false;
  take();
  await pass(1000);
  assert.equal(ready.count, 2);
  assert.equal(host.networks.size, 1, 'only the one that was taken is attached');
});

test('when the network changes while no pod is starting, ready sandboxes attached to the old one are removed as well', async (context) => {
  const { ready, host, pass } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  host.canAttach = false;
  ready.onNetworkStatus({ ready: true });
  await pass(1000);
  assert.deepEqual([ready.count, host.namespaces.size, host.networks.size], [2, 2, 0]);
  host.canAttach = true;
  ready.onNetworkStatus({ ready: true });
  await pass(1000);
  assert.deepEqual([ready.count, host.namespaces.size, host.networks.size], [2, 2, 2]);
});

test('a ready sandbox cannot be taken while it is being checked, but others can', async (context) => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let calls = 0;
  const network = { prepare: async () => (++calls === 3 ? promise : true), tearDown: async () => undefined };
  const { ready, pass, take } = open(context, { network });
  ready.begin({ hadPods: true });
  await pass(1000);
  ready.onNetworkStatus({ ready: true });
  await pass(1000);
  assert.deepEqual([calls, ready.count], [3, 1]);
  const taken = take();
  resolve(true);
  await pass(1000);
  assert.equal(ready.count, 2);
  assert.ok(![take(), take()].includes(taken));
});

test('ready sandboxes release their addresses to a pod that finds none free', async (context) => {
  const { ready, host, pass } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  assert.equal(await ready.releaseAll(), true);
  assert.deepEqual([host.namespaces.size, host.networks.size], [0, 0]);
  assert.equal(await ready.releaseAll(), false);
});

test('there are no ready sandboxes while the network is not ready, and new ones when it is ready again', async (context) => {
  const { ready, host, pass, take } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  ready.onNetworkStatus({ ready: false });
  assert.equal(take(), undefined);
  await pass(1000);
  assert.deepEqual([ready.count, host.namespaces.size, host.networks.size], [0, 0, 0]);
  ready.onNetworkStatus({ ready: true });
  await pass(1000);
  assert.equal(ready.count, 2);
});

test('a sandbox that is being attached while all are dropped is dropped as well', async (context) => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const network = { prepare: () => promise, tearDown: async () => undefined };
  const { ready, host, pass } = open(context, { network });
  ready.begin({ hadPods: true });
  await pass(1000);
  const [made] = host.namespaces;
  ready.dropAll();
  resolve(true);
  await pass(1000);
  assert.equal(ready.count, 2);
  assert.ok(!host.namespaces.has(made!));
});

test('a sandbox whose preparation failed is removed before the next one is prepared, with growing pauses and one log line', async (context) => {
  const lines: string[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => void lines.push(JSON.stringify(fields)) };
  let attempts = 0;
  const host = new Set<string>();
  const network = {
    prepare: async (id: string) => {
      attempts++;
      host.add(id);
      assert.equal(host.size, 1, 'the previous one was removed');
      return await Promise.reject<boolean>(new Error('injected failure'));
    },
    tearDown: async ({ sandboxId }: { sandboxId: string }) => void host.delete(sandboxId),
  };
  const { ready, pass, take, host: made } = open(context, { network, logger });
  ready.begin({ hadPods: true });
  await pass(10_000);
  assert.equal(take(), undefined);
  assert.ok(attempts >= 3 && attempts <= 6, `${attempts} attempts in ten seconds`);
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /injected failure/);
  assert.ok(made.namespaces.size <= 1);
  network.prepare = async () => true;
  await pass(20_000);
  assert.equal(ready.count, 2);
});

test('after close nothing is left and no more sandboxes are prepared', async (context) => {
  const { ready, host, pass, take } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  const taken = take();
  await ready.close();
  assert.deepEqual([...host.namespaces], [taken]);
  assert.deepEqual([...host.networks], [taken]);
  await pass(5000);
  assert.equal(host.namespaces.size, 1);
  assert.equal(take(), undefined);
});

test('a ready sandbox that was taken and discarded is removed', async (context) => {
  const { ready, host, pass, take } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  const taken = take()!;
  ready.discard(taken);
  await pass(1000);
  assert.ok(!host.namespaces.has(taken) && !host.networks.has(taken));
  assert.equal(ready.count, 2);
});

test('with a maximum of 0 there are no ready sandboxes', async (context) => {
  const { ready, host, pass, take } = open(context, { most: 0 });
  ready.begin({ hadPods: true });
  assert.equal(take(), undefined);
  await pass(5000);
  assert.equal(host.namespaces.size, 0);
});

test('metrics count ready sandboxes and the pods that used one', async (context) => {
  const metrics = new Registry();
  const { ready, pass, take } = open(context, { metrics });
  ready.begin({ hadPods: true });
  await pass(1000);
  for (const _ of [1, 2, 3]) take();
  await pass(1000);
  const text = await metrics.metrics();
  assert.match(text, /^podwright_ready_sandboxes 3$/m);
  assert.match(text, /^podwright_ready_sandbox_requests_total\{result="hit"\} 2$/m);
  assert.match(text, /^podwright_ready_sandbox_requests_total\{result="miss"\} 1$/m);
});
