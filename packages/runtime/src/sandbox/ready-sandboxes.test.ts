import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import { Registry, silentLogger } from '@podwright/base';
import type { SandboxConfig } from '../records/sandbox-record.ts';
import { ReadySandboxes, type ReadySandboxesDependencies, readyTarget } from './ready-sandboxes.ts';
import type { SandboxController } from './sandbox-controller.ts';

const pod = { network: 'pod', ipc: 'pod', sysctls: {} } as unknown as SandboxConfig;
const controller = { takesReadySandboxes: true } as SandboxController;
const MINUTE_MS = 60_000;

/** Ready sandboxes on a host that is only remembered, in time that passes when it is told to. */
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
  /** Lets time pass, in steps after each of which everything ends that can. */
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
  test(`${starts} pods in a minute ask for ${target} ready sandboxes when there may be ${most}`, () => {
    assert.equal(readyTarget(starts, most), target);
  });

test('the first pod finds one, and the next minute as many as there were pods', async (context) => {
  const { ready, host, pass, take } = open(context);
  ready.begin({ hadPods: false });
  assert.equal(take(), undefined, 'not before there was time for it');
  await pass(1000);
  assert.equal(ready.count, 2);
  const taken = [take(), take(), take(), take()];
  assert.equal(taken.filter((id) => id !== undefined).length, 2);
  await pass(1000);
  assert.equal(ready.count, 5);
  assert.equal(host.namespaces.size, 7, 'those that were taken are there, too');
  await pass(MINUTE_MS);
  assert.equal(ready.count, 2);
  assert.equal(host.namespaces.size, 4);
});

test('they are made also while somebody asks for the state of the network all the time', async (context) => {
  const { ready, pass, take } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  take();
  for (let asked = 0; asked < 20; asked++) {
    ready.networkIs({ ready: true });
    await pass(100);
  }
  assert.equal(ready.count, 2);
});

test('nothing is made while the runtime works', async (context) => {
  const { ready, host, pass } = open(context);
  host.idle = false;
  ready.begin({ hadPods: true });
  await pass(5000);
  assert.equal(host.namespaces.size, 0);
  host.idle = true;
  await pass(1000);
  assert.equal(ready.count, 2);
});

test('a node without pods has namespaces alone, and links from its first pod on', async (context) => {
  const { ready, host, pass, take } = open(context);
  ready.begin({ hadPods: false });
  await pass(1000);
  assert.equal(host.networks.size, 0);
  const first = take();
  await pass(1000);
  assert.equal(host.networks.size, 2);
  assert.deepEqual(new Set([...host.networks, first]), host.namespaces, 'the one without a link has gone');
  assert.ok(host.networks.has(take()!));
});

test('only pods that it fits get one', async (context) => {
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

test('when the network has become another one, those for the old one are removed', async (context) => {
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

test('when the network has become another one while no pod comes, those for the old one are removed, too', async (context) => {
  const { ready, host, pass } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  host.canAttach = false;
  ready.networkIs({ ready: true });
  await pass(1000);
  assert.deepEqual([ready.count, host.namespaces.size, host.networks.size], [2, 2, 0]);
  host.canAttach = true;
  ready.networkIs({ ready: true });
  await pass(1000);
  assert.deepEqual([ready.count, host.namespaces.size, host.networks.size], [2, 2, 2]);
});

test('nobody takes one while it is looked at, and others can be taken', async (context) => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let calls = 0;
  const network = { prepare: async () => (++calls === 3 ? promise : true), tearDown: async () => undefined };
  const { ready, pass, take } = open(context, { network });
  ready.begin({ hadPods: true });
  await pass(1000);
  ready.networkIs({ ready: true });
  await pass(1000);
  assert.deepEqual([calls, ready.count], [3, 1]);
  const taken = take();
  resolve(true);
  await pass(1000);
  assert.equal(ready.count, 2);
  assert.ok(![take(), take()].includes(taken));
});

test('a pod that finds no address gets what those hold that are ready', async (context) => {
  const { ready, host, pass } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  assert.equal(await ready.giveWay(), true);
  assert.deepEqual([host.namespaces.size, host.networks.size], [0, 0]);
  assert.equal(await ready.giveWay(), false);
});

test('while the network is not ready there are none, and again when it is', async (context) => {
  const { ready, host, pass, take } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  ready.networkIs({ ready: false });
  assert.equal(take(), undefined);
  await pass(1000);
  assert.deepEqual([ready.count, host.namespaces.size, host.networks.size], [0, 0, 0]);
  ready.networkIs({ ready: true });
  await pass(1000);
  assert.equal(ready.count, 2);
});

test('one that is being attached while all are dropped is dropped, too', async (context) => {
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

test('what fails half-way is undone before anything new is made, with longer and longer pauses and one line in the log', async (context) => {
  const lines: string[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => void lines.push(JSON.stringify(fields)) };
  let attempts = 0;
  const host = new Set<string>();
  const network = {
    prepare: async (id: string) => {
      attempts++;
      host.add(id);
      assert.equal(host.size, 1, 'the one before is gone');
      return await Promise.reject<boolean>(new Error('no link today'));
    },
    tearDown: async ({ sandboxId }: { sandboxId: string }) => void host.delete(sandboxId),
  };
  const { ready, pass, take, host: made } = open(context, { network, logger });
  ready.begin({ hadPods: true });
  await pass(10_000);
  assert.equal(take(), undefined);
  assert.ok(attempts >= 3 && attempts <= 6, `${attempts} attempts in ten seconds`);
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /no link today/);
  assert.ok(made.namespaces.size <= 1);
  network.prepare = async () => true;
  await pass(20_000);
  assert.equal(ready.count, 2);
});

test('closed, it leaves nothing and makes no more', async (context) => {
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

test('one that was taken for nothing is removed', async (context) => {
  const { ready, host, pass, take } = open(context);
  ready.begin({ hadPods: true });
  await pass(1000);
  const taken = take()!;
  ready.giveUp(taken);
  await pass(1000);
  assert.ok(!host.namespaces.has(taken) && !host.networks.has(taken));
  assert.equal(ready.count, 2);
});

test('with a setting of 0 there are none', async (context) => {
  const { ready, host, pass, take } = open(context, { most: 0 });
  ready.begin({ hadPods: true });
  assert.equal(take(), undefined);
  await pass(5000);
  assert.equal(host.namespaces.size, 0);
});

test('metrics tell how many there are, and how many pods found one', async (context) => {
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
