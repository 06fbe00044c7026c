/** Tests resources of running containers across kubelet restarts. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { Checkpoint, runChecked } from '@podwright/host';
import {
  type ContainerLimits,
  emptyRuntimePod,
  type GivenResources,
  type RuntimeContainer,
} from '../kubecontainer/runtime-pod.ts';
import { ActuatedResources } from './actuated-resources.ts';
import { fakeNode } from './dependencies.fixture.ts';
import { observedResources } from './observed-resources.ts';
import { decodeActuated } from './resource-records.ts';

const UID = 'u1';
const identity = { uid: UID, namespace: 'default', name: 'web' };
const memory = (limit: string): GivenResources => ({ limits: { memory: limit } });
const NO_LIMITS: ContainerLimits = { cpuShares: 2n, cpuQuota: 0n, cpuPeriod: 100_000n, memoryLimitInBytes: 0n };

/** A running container that was created with a limit of 100Mi and now has the given limit. */
function running(mebibytes: bigint): RuntimeContainer {
  const limits = { ...NO_LIMITS, memoryLimitInBytes: mebibytes << 20n };
  return { id: 'c1', name: 'app', state: 'running', resources: memory('100Mi'), limits } as RuntimeContainer;
}

function newPath(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-actuated-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return join(directory, 'resource-state', 'actuated.json');
}

/** Opens the checkpoint like a restarted kubelet. It is never closed, as if the kubelet had been killed. */
async function open(path: string) {
  const checkpoint = await Checkpoint.open({ path, logger: silentLogger, decode: decodeActuated });
  return { checkpoint, actuated: new ActuatedResources(checkpoint, fakeNode()) };
}

/** Returns the container's memory limit as determined after a kubelet restart if the runtime then reports `mebibytes`. */
async function afterRestart(path: string, mebibytes: bigint): Promise<string | undefined> {
  const { actuated } = await open(path);
  const container = running(mebibytes);
  actuated.observe({ ...emptyRuntimePod(identity), containers: [container] });
  return actuated.of(UID, container)?.limits?.memory;
}

test('a completed update survives a kubelet restart, whatever the runtime reports', async (t) => {
  const path = newPath(t);
  const { checkpoint, actuated } = await open(path);
  actuated.observe(emptyRuntimePod(identity));
  actuated.complete(UID, 'c1', memory('60Mi'));
  await checkpoint.flush();
  assert.equal(await afterRestart(path, 70n), '60Mi');
});

test('after an interrupted update the limit reported by the runtime is used', async (t) => {
  const path = newPath(t);
  const { checkpoint, actuated } = await open(path);
  actuated.observe(emptyRuntimePod(identity));
  await checkpoint.flush();
  await actuated.begin(UID, [{ id: 'c1', from: memory('100Mi') }]);
  assert.equal(await afterRestart(path, 60n), '60Mi');
  assert.equal(await afterRestart(path, 100n), '100Mi');
});

for (const [name, content] of [
  ['no checkpoint', undefined],
  ['a truncated checkpoint', '{"entries":{"u1":{"c1'],
  ['a checkpoint with an invalid amount', '{"entries":{"u1":{"c1":{"resources":{"limits":{"memory":"much"}}}}}}'],
  ['a checkpoint of another shape', '{"data":"{}","checksum":1}'],
  ['a checkpoint without the pod', '{"entries":{"u2":{}}}'],
  [
    'a large checkpoint',
    JSON.stringify({ entries: { u1: { c1: { resources: memory('100Mi') } } }, padding: ' '.repeat(9 << 20) }),
  ],
] as const) {
  test(`with ${name} the limit that the runtime reports is used`, async (t) => {
    const path = newPath(t);
    mkdirSync(dirname(path));
    if (content !== undefined) writeFileSync(path, content);
    assert.equal(await afterRestart(path, 60n), '60Mi');
    assert.equal(await afterRestart(path, 100n), '100Mi');
  });
}

test('a FIFO is not read as a checkpoint, and is replaced', { timeout: 10_000 }, async (t) => {
  const path = newPath(t);
  mkdirSync(dirname(path));
  await runChecked('mkfifo', [path]);
  const { checkpoint, actuated } = await open(path);
  actuated.complete(UID, 'c1', memory('60Mi'));
  await checkpoint.flush();
  assert.equal(await afterRestart(path, 70n), '60Mi');
});

test('a deeply nested entry does not make later writes fail', async (t) => {
  const path = newPath(t);
  mkdirSync(dirname(path));
  const claims = '['.repeat(200_000) + ']'.repeat(200_000);
  writeFileSync(path, `{"entries":{"u2":{"c2":{"resources":{"claims":${claims}}}}}}`);
  const { checkpoint, actuated } = await open(path);
  actuated.complete(UID, 'c1', memory('60Mi'));
  await checkpoint.flush();
  assert.equal(await afterRestart(path, 70n), '60Mi');
});

test('a pod that started with the checkpoint keeps the resources from its annotation', async (t) => {
  const path = newPath(t);
  const { checkpoint, actuated } = await open(path);
  actuated.observe(emptyRuntimePod(identity));
  await checkpoint.flush();
  assert.equal(await afterRestart(path, 60n), '100Mi');
});

test('a failed write removes the outdated checkpoint, and is retried', async (t) => {
  const path = newPath(t);
  const { checkpoint, actuated } = await open(path);
  actuated.complete(UID, 'c1', memory('60Mi'));
  await checkpoint.flush();
  rmSync(dirname(path), { recursive: true });
  writeFileSync(dirname(path), ''); // no directory can be created here
  await actuated.begin(UID, [{ id: 'c1', from: memory('60Mi') }]);
  assert.equal(actuated.updated(UID, 'c1')?.limits?.memory, '60Mi');
  rmSync(dirname(path));
  using signal = withTimeout(undefined, 10_000, 'retry the write');
  await waitFor(() => existsSync(path) || undefined, { intervalMs: 10, signal });
  assert.match(readFileSync(path, 'utf8'), /"isPending":true/);
  checkpoint.keepOnly(() => false);
  await checkpoint.close();
  assert.equal(existsSync(dirname(path)), false);
});

test('observed resources are the recorded ones, except where the actual limits differ', () => {
  const check = (recorded: GivenResources, actual: Partial<ContainerLimits> | undefined, expected: GivenResources) => {
    const limits = actual && { ...NO_LIMITS, ...actual };
    assert.deepEqual(observedResources(recorded, limits, fakeNode()), expected);
  };
  const both = (cpu: string, amount: string): GivenResources => ({
    limits: { cpu, memory: amount },
    requests: { cpu, memory: amount },
  });
  const given = both('200m', '100Mi');
  const asGiven = { cpuShares: 204n, cpuQuota: 20_000n, memoryLimitInBytes: 100n << 20n };
  check(given, undefined, given);
  check(given, asGiven, given);
  check(given, { ...asGiven, memoryLimitInBytes: (100n << 20n) + 1n }, given);
  check(given, { ...asGiven, memoryLimitInBytes: 60n << 20n }, { ...both('200m', '60Mi') });
  check(given, { ...asGiven, cpuShares: 102n, cpuQuota: 10_000n }, both('100m', '100Mi'));
  check(given, { ...asGiven, cpuQuota: -1n }, { ...given, limits: { memory: '100Mi' } });
  check({}, {}, {});
  check({}, { memoryLimitInBytes: 5000n }, { limits: { memory: '5000' } });
  const whole = { pod: { limits: { cpu: '300m' }, requests: { cpu: '300m' } } };
  const shares = { cpuShares: 307n };
  check(whole, { ...shares, cpuQuota: 30_000n }, whole);
  check(whole, { ...shares, cpuQuota: 60_000n }, { ...whole, limits: { cpu: '600m' } });
  check(whole, { ...shares, cpuQuota: -1n }, { limits: {}, pod: { limits: {}, requests: { cpu: '300m' } } });
});
