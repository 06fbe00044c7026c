import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import type { Container, Pod } from '@podwright/kube-api';
import { ResourceAdmission } from '../topology/resource-admission.ts';
import { DeviceManager } from './device-manager.ts';
import { FakePlugin, type FakePluginBehavior } from './fake-plugin.fixture.ts';

const WIDGET = 'example.com/widget';
const GADGET = 'example.com/gadget';

async function newNode(context: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'pwk-devices-'));
  const running = new Set<string>();
  const closers: (() => Promise<void>)[] = [];
  context.after(async () => {
    for (const close of closers.reverse()) await close();
    await rm(directory, { recursive: true });
  });
  const unhealthy: string[][] = [];
  const onHealth = (podUids: string[]) => void unhealthy.push(podUids);
  const start = async () => {
    const options = {
      directory,
      nodes: [0, 1],
      isRunning: (uid: string) => running.has(uid),
      logger: silentLogger,
    };
    const manager = await DeviceManager.open(options);
    await manager.serve(onHealth);
    closers.push(() => manager.close());
    const admission = new ResourceAdmission([manager], undefined);
    const admit = (pod: Pod) => admission.admit(pod, AbortSignal.timeout(30_000));
    return { manager, admission, admit };
  };
  const plugin = async (behavior: FakePluginBehavior, resource = WIDGET) => {
    const made = new FakePlugin(directory, resource, behavior);
    closers.push(() => made.stop());
    await made.start();
    return made;
  };
  return { directory, running, unhealthy, start, plugin };
}

function podOf(uid: string, containers: Record<string, object>, initContainers: Record<string, object> = {}): Pod {
  const list = (all: Record<string, object>) =>
    Object.entries(all).map(([name, limits]) => {
      const { restartPolicy, ...amounts } = limits as { restartPolicy?: 'Always' };
      const resources = { limits: amounts as Record<string, string> };
      return { name, image: 'i', resources, ...(restartPolicy === undefined ? {} : { restartPolicy }) };
    });
  const metadata = { name: uid, namespace: 'default', uid };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers: list(containers), initContainers: list(initContainers) },
  };
}

const container = ({ spec }: Pod, name: string): Container =>
  [...(spec.initContainers ?? []), ...spec.containers].find((one) => one.name === name)!;

async function until(what: string, check: () => boolean): Promise<boolean> {
  using signal = withTimeout(undefined, 30_000, what);
  return await waitFor(async () => check() || undefined, { intervalMs: 5, signal });
}

const healthy = (manager: DeviceManager, count: number, resource = WIDGET) =>
  until(`${count} devices`, () => (manager.amounts().allocatable[resource] ?? -1) === count);

test('a container gets a plugin’s devices, with the options in the plugin’s response', async (context) => {
  const node = await newNode(context);
  const { manager, admit, admission } = await node.start();
  const answer = (ids: string[]) => ({
    envs: { WIDGETS: ids.join(',') },
    mounts: [{ containerPath: '/widgets', hostPath: '/srv/w', readOnly: true }],
    devices: ids.map((id) => ({ containerPath: `/dev/${id}`, hostPath: '/dev/null', permissions: 'rw' })),
    annotations: { 'example.com/a': 'b' },
    cdiDevices: [{ name: 'example.com/widget=one' }],
  });
  const plugin = await node.plugin({ devices: ['w1', 'w2', 'w3'], preStartRequired: true, answer });
  await healthy(manager, 3);
  const pod = podOf('u1', { app: { [WIDGET]: '2' }, plain: { cpu: '1' } });
  assert.equal(await admit(pod), undefined);
  assert.equal(await admit(pod), undefined, 'a second time changes nothing');
  const { devices, envs, mounts, annotations, cdiDevices } = await manager.optionsFor(pod, container(pod, 'app'));
  assert.deepEqual(envs, { WIDGETS: 'w1,w2' });
  assert.deepEqual(
    devices.map(({ containerPath, permissions }) => [containerPath, permissions]),
    [
      ['/dev/w1', 'rw'],
      ['/dev/w2', 'rw'],
    ],
  );
  assert.deepEqual(
    mounts.map(({ hostPath, readOnly }) => [hostPath, readOnly]),
    [['/srv/w', true]],
  );
  assert.deepEqual([annotations, cdiDevices[0]?.name], [{ 'example.com/a': 'b' }, 'example.com/widget=one']);
  assert.deepEqual((await manager.optionsFor(pod, container(pod, 'plain'))).envs, {});
  assert.deepEqual(
    plugin.calls.map(({ method }) => method),
    ['allocate', 'preStart'],
  );
  assert.deepEqual(manager.admissible(), { [WIDGET]: 3n });
  const second = podOf('u2', { app: { [WIDGET]: '2' } });
  assert.deepEqual(await admit(second), {
    reason: 'UnexpectedAdmissionError',
    message:
      'Allocate failed due to requested number of devices unavailable for example.com/widget. Requested: 2, Available: 1, which is unexpected',
  });
  await admission.release('u1');
  assert.equal(await admit(second), undefined);
});

test('later containers reuse devices of init containers, but not of sidecars', async (context) => {
  const node = await newNode(context);
  const { manager, admit } = await node.start();
  await node.plugin({ devices: ['w1', 'w2', 'w3'] });
  await healthy(manager, 3);
  const limits = (count: number, more: object = {}) => ({ [WIDGET]: String(count), ...more });
  const init = { first: limits(2), side: limits(1, { restartPolicy: 'Always' }), second: limits(2) };
  const pod = podOf('u1', { app: limits(2) }, init);
  assert.equal(await admit(pod), undefined);
  const has = (name: string) => Object.values(manager.devicesOf('u1', name)[0]!.devices).flat();
  assert.deepEqual([has('first'), has('side')], [['w1', 'w2'], ['w1']]);
  assert.deepEqual(has('second').toSorted(), ['w2', 'w3']);
  assert.deepEqual(has('app').toSorted(), ['w2', 'w3']);
});

test('devices of an init container are not reused by the next pod, nor by its own pod after a release', async (context) => {
  const node = await newNode(context);
  const { manager, admission, admit } = await node.start();
  const on = (place: number, ...ids: string[]) => ids.map((id) => ({ id, nodes: [place] }));
  const plugin = await node.plugin({ devices: [...on(0, 'w1', 'w2'), ...on(1, 'w3')] });
  await healthy(manager, 3);
  const pod = podOf('u1', { app: { [WIDGET]: '1' } }, { init: { [WIDGET]: '2' } });
  assert.equal(await admit(pod), undefined);
  const other = podOf('u2', { app: { [WIDGET]: '1' } });
  const hints = manager.containerHints(other, container(other, 'app'))[WIDGET];
  assert.deepEqual(
    hints?.map(({ nodes }) => nodes),
    [2n, 3n],
  );
  await admission.release('u1');
  plugin.change([...on(0, 'w1'), { id: 'w2', isHealthy: false }, ...on(1, 'w3')]);
  await healthy(manager, 2);
  assert.equal(await admit(pod), undefined);
  const [{ devices } = { devices: {} }] = manager.devicesOf('u1', 'init');
  assert.deepEqual(devices, { 0: ['w1'], 1: ['w3'] });
});

test('assignments survive a kubelet restart and end with their pod', async (context) => {
  const node = await newNode(context);
  const before = await node.start();
  const plugin = await node.plugin({ devices: ['w1', 'w2'] });
  await healthy(before.manager, 2);
  const pod = podOf('u1', { app: { [WIDGET]: '1' } });
  assert.equal(await before.admit(pod), undefined);
  await before.manager.close();

  const { manager, admit } = await node.start();
  assert.deepEqual((await readdir(node.directory)).toSorted(), ['kubelet.sock', 'kubelet_internal_checkpoint']);
  assert.deepEqual(manager.amounts(), { capacity: { [WIDGET]: 0 }, allocatable: { [WIDGET]: 0 } });
  assert.deepEqual(manager.admissible(), { [WIDGET]: 1n }, 'assigned devices are admissible');
  node.running.add('u1');
  assert.equal(await admit(pod), undefined, 'it runs, and keeps its devices');
  assert.deepEqual((await manager.optionsFor(pod, container(pod, 'app'))).envs, { WIDGETS: 'w1' });
  await plugin.stop();
  await plugin.start();
  await healthy(manager, 2);
  assert.match((await admit(podOf('u2', { app: { [WIDGET]: '2' } })))!.message, /Requested: 2, Available: 1/);
  await manager.keepOnly(() => false);
  assert.deepEqual(manager.admissible(), { [WIDGET]: 2n });
  assert.match((await admit(podOf('u3', { app: { [WIDGET]: '3' } })))!.message, /Requested: 3, Available: 2/);
  const { Data } = JSON.parse(await readFile(join(node.directory, 'kubelet_internal_checkpoint'), 'utf8'));
  assert.deepEqual(Data, { PodDeviceEntries: null, RegisteredDevices: { [WIDGET]: ['w1', 'w2'] } });
});

test('a corrupt checkpoint is ignored', async (context) => {
  const node = await newNode(context);
  const file = join(node.directory, 'kubelet_internal_checkpoint');
  const upstreams =
    '{"Data":{"PodDeviceEntries":[{"PodUID":"u1","ContainerName":"c","ResourceName":"e.com/w","DeviceIDs":{"-1":["x"],"0":["a","b"]},"AllocResp":""}],"RegisteredDevices":{"b":[],"e.com/w":["a"]}},"Checksum":';
  for (const text of ['', '{}', 'null', '{"Data":{}', `${upstreams}1}`]) {
    await writeFile(file, text);
    const { manager } = await node.start();
    assert.deepEqual(manager.admissible(), {}, text);
    await manager.close();
  }
});

test('devices of a disconnected plugin remain for the grace period, but are not assigned', async (context) => {
  const node = await newNode(context);
  const { manager, admit } = await node.start();
  const plugin = await node.plugin({ devices: ['w1', { id: 'w2', isHealthy: false }] });
  await healthy(manager, 1);
  assert.deepEqual(manager.amounts().capacity, { [WIDGET]: 2 });
  plugin.change(['w1', 'w2', 'w3']);
  await healthy(manager, 3);
  await plugin.stop();
  await healthy(manager, 0);
  assert.deepEqual(manager.amounts().capacity, { [WIDGET]: 3 });
  const { message } = (await admit(podOf('u1', { app: { [WIDGET]: '1' } })))!;
  assert.match(message, /no healthy devices present/);
  await plugin.start();
  await healthy(manager, 3);
  assert.equal(await admit(podOf('u2', { app: { [WIDGET]: '1' } })), undefined);
});

test('a pod with a device that becomes unhealthy is reported, including the device health', async (context) => {
  const node = await newNode(context);
  const { manager, admit } = await node.start();
  const plugin = await node.plugin({ devices: ['w1', 'w2'] });
  await healthy(manager, 2);
  await admit(podOf('u1', { app: { [WIDGET]: '1' } }));
  const shown = (health: string) => [{ name: WIDGET, resources: [{ resourceID: 'w1', health }] }];
  assert.deepEqual(manager.healthOf('u1', 'app'), shown('Healthy'));
  plugin.change(['w1', { id: 'w2', isHealthy: false }]);
  await healthy(manager, 1);
  assert.deepEqual(node.unhealthy, []);
  plugin.change([{ id: 'w1', isHealthy: false }, 'w2']);
  await until('it is reported', () => node.unhealthy.length === 1);
  assert.deepEqual([node.unhealthy, manager.healthOf('u1', 'app')], [[['u1']], shown('Unhealthy')]);
});

test('a plugin’s preferred devices are used if they are free', async (context) => {
  const node = await newNode(context);
  const { manager, admit } = await node.start();
  await node.plugin({ devices: ['w1', 'w2', 'w3', 'w4'], prefer: () => ['unknown', 'w4', 'w3', 'w1'] });
  await healthy(manager, 4);
  const has = (uid: string) => Object.values(manager.devicesOf(uid, 'app')[0]!.devices).flat();
  assert.equal(await admit(podOf('u1', { app: { [WIDGET]: '2' } })), undefined);
  assert.deepEqual(has('u1'), ['w3', 'w4']);
  assert.equal(await admit(podOf('u2', { app: { [WIDGET]: '2' } })), undefined);
  assert.deepEqual(has('u2'), ['w1', 'w2']);
});

test('invalid registrations are rejected with the same messages as upstream', async (context) => {
  const node = await newNode(context);
  await node.start();
  const plugin = new FakePlugin(node.directory, WIDGET, { devices: [] });
  context.after(() => plugin.stop());
  await plugin.serve();
  const wrong: [Parameters<FakePlugin['register']>[0], RegExp][] = [
    [{ version: 'v1alpha1' }, /requested API version "v1alpha1" is not supported by kubelet/],
    [{ resourceName: 'cpu' }, /the ResourceName "cpu" is invalid/],
    [{ resourceName: 'kubernetes.io/x' }, /is invalid/],
    [{ resourceName: `example.com/${'x'.repeat(64)}` }, /is invalid/],
    [{ endpoint: '../../run/other.sock' }, /is not a socket in/],
    [{ endpoint: '' }, /is not a socket in/],
  ];
  for (const [request, expected] of wrong) await assert.rejects(plugin.register(request), expected);
});

test('hostile plugins are limited: too many devices, overlong IDs, truncated responses', async (context) => {
  const node = await newNode(context);
  const { manager, admit } = await node.start();
  const good = await node.plugin({ devices: ['w1'] });
  await healthy(manager, 1);
  for (const [index, devices] of [
    Array.from({ length: 1_000_000 }, (_, index) => `${index}`),
    Array.from({ length: 100_000 }, (_, index) => `${index}`),
    ['x'.repeat(5000)],
  ].entries()) {
    const resource = `example.com/hostile-${index}`;
    await node.plugin({ devices }, resource);
    await until('the plugin is disconnected', () => manager.amounts().capacity[resource] === 0);
  }
  const pod = podOf('u1', { app: { [WIDGET]: '1' } });
  good.hold = good.stop();
  const { reason } = (await admit(pod))!;
  assert.equal(reason, 'UnexpectedAdmissionError');
  assert.equal(manager.devicesOf('u1', 'app').length, 0, 'nothing is assigned partially');
});

test('a directory served by another kubelet is left unchanged', async (context) => {
  const node = await newNode(context);
  const other = createServer((socket) => socket.destroy()).listen(join(node.directory, 'kubelet.sock'));
  context.after(() => other.close());
  const theirs = createServer().listen(join(node.directory, 'theirs.sock'));
  context.after(() => theirs.close());
  await assert.rejects(node.start(), { code: 'already_exists' });
  assert.deepEqual((await readdir(node.directory)).toSorted(), ['kubelet.sock', 'theirs.sock']);
});

test('a node counts as new until the first plugin has listed its devices', async (context) => {
  const node = await newNode(context);
  const { manager } = await node.start();
  assert.equal(manager.isNew, true);
  await node.plugin({ devices: ['w1'] });
  await until('it is known', () => !manager.isNew);
  await manager.close();
  const next = await node.start();
  assert.equal(next.manager.isNew, false);
});

test('resources satisfied by a claim are not requested from a plugin', async (context) => {
  const node = await newNode(context);
  const { manager, admit } = await node.start();
  const plugin = await node.plugin({ devices: ['w1'] });
  await until('it is known', () => manager.isOffered(WIDGET));
  const requestMappings = [{ containerName: 'one', resourceName: WIDGET, requestName: 'r' }];
  const status = { extendedResourceClaimStatus: { resourceClaimName: 'c', requestMappings } };
  const pod = { ...podOf('p1', { one: { [WIDGET]: '2' } }), status } as unknown as Pod;
  assert.equal(await admit(pod), undefined);
  assert.deepEqual([plugin.calls, manager.isMissing(pod, container(pod, 'one'))], [[], false]);
});

test('a container gets no devices if the checkpoint cannot be written, neither at admission nor at start', async (context) => {
  const node = await newNode(context);
  const { manager, admit } = await node.start();
  await node.plugin({ devices: ['w1'] });
  await healthy(manager, 1);
  const checkpoint = join(node.directory, 'kubelet_internal_checkpoint');
  await until('its list is in the checkpoint', () => existsSync(checkpoint));
  await rm(checkpoint);
  await mkdir(checkpoint);
  const pod = podOf('u1', { app: { [WIDGET]: '1' } });
  const { reason, message } = (await admit(pod))!;
  assert.equal(reason, 'UnexpectedAdmissionError');
  assert.match(message, /^Allocate failed due to failed to write checkpoint file "kubelet_internal_checkpoint": /);
  const app = container(pod, 'app');
  await assert.rejects(manager.allocateMissing(pod, app), /failed to write checkpoint file/);
  assert.deepEqual([manager.devicesOf('u1', 'app'), manager.isMissing(pod, app)], [[], true]);
  await rm(checkpoint, { recursive: true });
  await manager.allocateMissing(pod, app);
  assert.equal(manager.isMissing(pod, app), false);
});

test('a hanging plugin delays only pods requesting its devices, until the pod is deleted', async (context) => {
  const node = await newNode(context);
  const { manager, admission, admit } = await node.start();
  const hung = await node.plugin({ devices: ['w1', 'w2'] });
  await node.plugin({ devices: ['g1'] }, GADGET);
  await Promise.all([healthy(manager, 2), healthy(manager, 1, GADGET)]);
  const { promise, resolve } = Promise.withResolvers<void>();
  hung.hold = promise;
  context.after(() => resolve());
  const deletion = new AbortController();
  const first = admission.admit(podOf('u1', { app: { [WIDGET]: '1' } }), deletion.signal);
  const second = admit(podOf('u2', { app: { [WIDGET]: '1' } }));
  await until('the plugin is called', () => hung.calls.length === 1);
  const others = [podOf('u3', { app: { cpu: '1' } }), podOf('u4', { app: { [GADGET]: '1' } })];
  assert.deepEqual(await Promise.all(others.map(admit)), [undefined, undefined]);
  await admission.exclusively(async () => undefined);
  await admission.release('u3');
  deletion.abort(new Error('deleted'));
  await assert.rejects(first, /deleted/);
  await until('the plugin is called for the next pod', () => hung.calls.length === 2);
  resolve();
  assert.equal(await second, undefined);
  assert.deepEqual(manager.devicesOf('u1', 'app'), []);
});
