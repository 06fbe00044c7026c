import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { ResourceAdmission, type TopologySettings } from '../topology/resource-admission.ts';
import { MemoryManager } from './memory-manager.ts';

const TOPOLOGY: TopologySettings = {
  policy: 'restricted',
  scope: 'container',
  preferClosest: false,
  numa: { nodes: [0, 1], distances: new Map() },
};

/**
 * Opens a memory manager on a host with two NUMA nodes of 1000 bytes each, 100 of them reserved; the second one has another 200 bytes of
 * huge pages.
 */
async function open(context: TestContext, topology?: TopologySettings) {
  const directory = await mkdtemp(join(tmpdir(), 'pwk-memory-'));
  context.after(() => rm(directory, { recursive: true }));
  const node = (id: number, pages: bigint) => {
    return { id, memoryBytes: 1000n + pages, hugePages: { 'hugepages-2Mi': pages }, distances: [] };
  };
  const options = {
    nodes: [node(0, 0n), node(1, 200n)],
    reserved: { 0: { memory: 100n }, 1: { memory: 100n } },
    file: join(directory, 'memory_manager_state'),
  };
  const manager = await MemoryManager.open(options);
  const admission = new ResourceAdmission([manager], topology);
  const admit = (pod: Pod) => admission.admit(pod, AbortSignal.timeout(30_000));
  return { manager, admission, admit, options };
}

type Amounts = { memory: string; 'hugepages-2Mi'?: string };

function podOf(uid: string, containers: Record<string, Amounts>, init: Record<string, Amounts> = {}): Pod {
  const list = (all: Record<string, Amounts>) =>
    Object.entries(all).map(([name, amounts]) => {
      const limits = { cpu: '1', ...amounts };
      return { name, image: 'i', resources: { limits, requests: limits } };
    });
  const spec = { containers: list(containers), initContainers: list(init) };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: uid, namespace: 'default', uid }, spec };
}

const NOT_ENOUGH =
  'Allocate failed due to [memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available, which is unexpected';

test('containers of guaranteed pods get memory from as few nodes as possible', async (context) => {
  const { manager, admit, admission } = await open(context);
  assert.equal(await admit(podOf('u1', { a: { memory: '600' }, b: { memory: '300' } })), undefined);
  assert.deepEqual([manager.nodesOf('u1', 'a'), manager.nodesOf('u1', 'b')], [[0], [0]]);
  assert.equal(await admit(podOf('u2', { a: { memory: '100', 'hugepages-2Mi': '200' } })), undefined);
  assert.deepEqual(manager.nodesOf('u2', 'a'), [1], 'only one node has huge pages');
  const { message } = (await admit(podOf('u3', { a: { memory: '1000' } })))!;
  assert.equal(message, NOT_ENOUGH);
  assert.deepEqual(manager.nodesOf('u3', 'a'), []);
  await admission.release('u1');
  await admission.release('u2');
  assert.equal(await admit(podOf('u3', { a: { memory: '1000' } })), undefined);
  assert.deepEqual(manager.nodesOf('u3', 'a'), [0, 1]);
  assert.equal(await admit(podOf('u4', { a: { memory: '10' } })), undefined);
  assert.deepEqual(manager.nodesOf('u4', 'a'), [0, 1], 'nodes with an allocation over both stay grouped');
});

test('containers of other pods get no memory blocks', async (context) => {
  const { manager, admit } = await open(context);
  const pod = podOf('u1', { a: { memory: '5000' } });
  pod.spec.containers[0]!.resources = { requests: { memory: '5000' } };
  assert.equal(await admit(pod), undefined);
  assert.deepEqual(manager.nodesOf('u1', 'a'), []);
});

test('memory of init containers is reused', async (context) => {
  const { manager, admit } = await open(context);
  const pod = podOf('u1', { a: { memory: '900' } }, { init: { memory: '800' } });
  assert.equal(await admit(pod), undefined);
  assert.deepEqual([manager.nodesOf('u1', 'init'), manager.nodesOf('u1', 'a')], [[0], [0]]);
  assert.equal(await admit(podOf('u2', { a: { memory: '900' } })), undefined);
  assert.deepEqual(manager.nodesOf('u2', 'a'), [1]);
});

test('memory of an init container that is not reused is freed once the others start, even after a kubelet restart', async (context) => {
  const { manager, admit, options } = await open(context);
  const pod = podOf('u1', { a: { memory: '100' } }, { one: { memory: '800' }, two: { memory: '900' } });
  assert.equal(await admit(pod), undefined);
  const [one, two] = pod.spec.initContainers!;
  await manager.freeLeftOvers(pod, one!);
  assert.equal(manager.hasLeftOvers(pod, two!), true);
  assert.equal((await admit(podOf('u2', { a: { memory: '900' }, b: { memory: '100' } })))?.message, NOT_ENOUGH);
  for (const container of [two!, pod.spec.containers[0]!]) await manager.freeLeftOvers(pod, container);
  assert.deepEqual([manager.nodesOf('u1', 'two'), manager.nodesOf('u1', 'a')], [[], [0]]);
  assert.equal(await admit(podOf('u2', { a: { memory: '900' }, b: { memory: '800' } })), undefined);
  const again = await MemoryManager.open(options);
  assert.equal(await new ResourceAdmission([again], undefined).admit(pod, AbortSignal.timeout(30_000)), undefined);
  assert.deepEqual(again.blocksOf('u1', 'two'), []);
});

test('a pod that is admitted again with the same UID gets its whole memory', async (context) => {
  const { manager, admit, admission } = await open(context);
  const pod = podOf('u1', { a: { memory: '100' } }, { init: { memory: '900' } });
  assert.equal(await admit(pod), undefined);
  await admission.release('u1');
  assert.equal(await admit(pod), undefined);
  assert.equal(await admit(podOf('u2', { a: { memory: '700' } })), undefined);
  assert.deepEqual([manager.nodesOf('u1', 'init'), manager.nodesOf('u2', 'a')], [[0], [1]]);
});

test('a pod that does not fit on any suitable nodes is rejected', async (context) => {
  const { admit } = await open(context, TOPOLOGY);
  assert.equal(await admit(podOf('u1', { a: { memory: '600' } })), undefined);
  assert.equal(await admit(podOf('u2', { a: { memory: '600' } })), undefined);
  assert.deepEqual(await admit(podOf('u3', { a: { memory: '600' } })), {
    reason: 'UnexpectedAdmissionError',
    message: 'Allocate failed due to [memorymanager] preferred hint violates NUMA node allocation, which is unexpected',
  });
});

test('a restarted kubelet restores its allocations if the host is unchanged', async (context) => {
  const { admit, options } = await open(context);
  await admit(podOf('u1', { a: { memory: '900' } }));
  const again = await MemoryManager.open(options);
  assert.deepEqual(again.nodesOf('u1', 'a'), [0]);
  const changed = { ...options, reserved: { 0: { memory: 200n }, 1: { memory: 100n } } };
  await assert.rejects(MemoryManager.open(changed), /the expected machine state is different from the real one/);
  await again.keepOnly(() => false);
  assert.deepEqual(again.blocksOf('u1', 'a'), []);
});

test('a container gets no memory if the checkpoint cannot be written', async (context) => {
  const { manager, admit, options } = await open(context);
  await rm(options.file);
  await mkdir(options.file);
  const pod = podOf('u1', { a: { memory: '900' } });
  assert.equal((await admit(pod))?.reason, 'UnexpectedAdmissionError');
  assert.deepEqual(manager.blocksOf('u1', 'a'), []);
  await rm(options.file, { recursive: true });
  assert.equal(await admit(pod), undefined);
  assert.deepEqual((await MemoryManager.open(options)).nodesOf('u1', 'a'), [0]);
});
