import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { Cpu } from '../topology/machine.ts';
import { ResourceAdmission, type TopologySettings } from '../topology/resource-admission.ts';
import { CpuManager, type CpuManagerOptions } from './cpu-manager.ts';
import { NO_CPU_OPTIONS } from './cpu-options.ts';

/** A host with two sockets, each a single NUMA node with two cores of two threads. */
const TWO_NODES: Cpu[] = Array.from({ length: 8 }, (_, id) => {
  const core = id % 4;
  const place = core < 2 ? 0 : 1;
  return { id, core, socket: place, node: place, cache: place };
});
const SINGLE: TopologySettings = {
  policy: 'single-numa-node',
  scope: 'container',
  preferClosest: false,
  numa: { nodes: [0, 1], distances: new Map() },
};

async function open(
  context: TestContext,
  given: Partial<CpuManagerOptions> = {},
  topology: TopologySettings | undefined = undefined,
) {
  const directory = await mkdtemp(join(tmpdir(), 'pwk-cpus-'));
  context.after(() => rm(directory, { recursive: true }));
  const file = join(directory, 'cpu_manager_state');
  const options = { cpus: TWO_NODES, reserved: { cpus: [], count: 1 }, options: NO_CPU_OPTIONS, file, ...given };
  const manager = await CpuManager.open(options);
  const admission = new ResourceAdmission([manager], topology);
  const admit = (pod: Pod) => admission.admit(pod, AbortSignal.timeout(30_000));
  return { manager, admission, admit, options };
}

type Part = { cpu: string; init?: 'once' | 'sidecar' };

function podOf(uid: string, parts: Record<string, Part | string>): Pod {
  const all = Object.entries(parts).map(([name, part]) => {
    const { cpu, init } = typeof part === 'string' ? ({ cpu: part } as Part) : part;
    const resources = { limits: { cpu, memory: '1Mi' }, requests: { cpu, memory: '1Mi' } };
    return {
      init,
      container: { name, image: 'i', resources, ...(init === 'sidecar' && { restartPolicy: 'Always' as const }) },
    };
  });
  const of = (isInit: boolean) =>
    all.filter(({ init }) => (init !== undefined) === isInit).map(({ container }) => container);
  const metadata = { name: uid, namespace: 'default', uid };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: of(false), initContainers: of(true) } };
}

test('containers requesting whole CPUs get exclusive ones, and all others share the rest', async (context) => {
  const { manager, admit, admission } = await open(context);
  assert.deepEqual([manager.reserved, manager.allocatable], [[0], [1, 2, 3, 4, 5, 6, 7]]);
  assert.equal(await admit(podOf('u1', { whole: '2', part: '500m' })), undefined);
  assert.deepEqual(manager.cpusOf('u1', 'whole'), [1, 5], 'a completely free core');
  assert.deepEqual([manager.ownOf('u1', 'part'), manager.cpusOf('u1', 'part')], [[], [0, 2, 3, 4, 6, 7]]);
  assert.ok(manager.hasOwn(podOf('u1', { whole: '2' })));
  const { reason, message } = (await admit(podOf('u2', { app: '6' })))!;
  assert.equal(reason, 'UnexpectedAdmissionError');
  assert.match(message, /not enough cpus available to satisfy request: requested=6, available=5/);
  await admission.release('u1');
  assert.equal(await admit(podOf('u2', { app: '6' })), undefined);
});

test('a pod that is not Guaranteed or has pod-level resources uses shared CPUs', async (context) => {
  const { manager, admit } = await open(context);
  const burstable = podOf('u1', { app: '2' });
  burstable.spec.containers[0]!.resources = { requests: { cpu: '2' } };
  assert.equal(await admit(burstable), undefined);
  const whole = podOf('u2', { app: '2' });
  whole.spec.resources = { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '2', memory: '1Gi' } };
  assert.equal(await admit(whole), undefined);
  assert.deepEqual([manager.ownOf('u1', 'app'), manager.ownOf('u2', 'app')], [[], []]);
});

test('later containers reuse CPUs of init containers, but not of sidecars', async (context) => {
  const { manager, admit } = await open(context);
  const pod = podOf('u1', {
    first: { cpu: '4', init: 'once' },
    side: { cpu: '1', init: 'sidecar' },
    second: { cpu: '2', init: 'once' },
    app: '4',
  });
  assert.equal(await admit(pod), undefined);
  const { first, side, second, app } = Object.fromEntries(
    ['first', 'side', 'second', 'app'].map((name) => [name, new Set(manager.ownOf('u1', name))]),
  );
  assert.deepEqual([first!.size, side!.size, second!.size, app!.size], [4, 1, 2, 4]);
  assert.ok([...side!].every((cpu) => !second!.has(cpu) && !app!.has(cpu)));
  assert.ok(
    [...app!].some((cpu) => first!.has(cpu)),
    'the init container’s processors are reused',
  );
});

test('a restarted kubelet restores its assignments, and rejects invalid ones', async (context) => {
  const { admit, options } = await open(context);
  await admit(podOf('u1', { app: '2' }));
  const again = await CpuManager.open(options);
  assert.deepEqual(again.ownOf('u1', 'app'), [1, 5]);
  const fewer = { ...options, cpus: TWO_NODES.slice(0, 6) };
  await assert.rejects(
    CpuManager.open(fewer),
    /current set of available CPUs "0-5" doesn't match with CPUs in state "0-7"/,
  );
  const others = { ...options, reserved: { cpus: [1], count: 1 } };
  await assert.rejects(CpuManager.open(others), /not all reserved cpus: "1" are present in defaultCpuSet: "0,2-4,6-7"/);
  await again.keepOnly(() => false);
  assert.match(await readFile(options.file, 'utf8'), /"defaultCpuSet":"0-7","checksum"/);
  const absent = { ...options, reserved: { cpus: [9], count: 1 } };
  await assert.rejects(CpuManager.open(absent), /the host has no processors 9/);
});

test('with strict-cpu-reservation reserved CPUs are not even shared', async (context) => {
  const { manager, options } = await open(context, { options: { ...NO_CPU_OPTIONS, strictReservation: true } });
  assert.deepEqual(manager.cpusOf('u', 'c'), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual((await CpuManager.open(options)).cpusOf('u', 'c'), [1, 2, 3, 4, 5, 6, 7]);
});

test('with full-pcpus-only containers do not share cores', async (context) => {
  const { admit } = await open(context, { options: { ...NO_CPU_OPTIONS, fullCores: true } });
  assert.deepEqual(await admit(podOf('u1', { app: '3' })), {
    reason: 'SMTAlignmentError',
    message: 'SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2',
  });
  assert.equal(await admit(podOf('u2', { app: '4' })), undefined);
  assert.deepEqual(await admit(podOf('u3', { app: '4' })), {
    reason: 'SMTAlignmentError',
    message:
      'SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 2, requested CPUs = 4, CPUs per core = 2',
  });
  assert.equal(await admit(podOf('u2', { app: '4' })), undefined, 'again, with the processors that it has');
});

test('CPUs are allocated on a suitable NUMA node, or the pod is rejected', async (context) => {
  const { manager, admit } = await open(context, {}, SINGLE);
  assert.equal(await admit(podOf('u1', { app: '4' })), undefined);
  assert.deepEqual(manager.ownOf('u1', 'app'), [2, 3, 6, 7]);
  assert.deepEqual(await admit(podOf('u2', { app: '4' })), {
    reason: 'TopologyAffinityError',
    message: 'Resources cannot be allocated with Topology locality',
  });
  assert.equal(await admit(podOf('u3', { app: '3' })), undefined);
  const byPod = await open(context, {}, { ...SINGLE, scope: 'pod' });
  assert.equal(await byPod.admit(podOf('u1', { a: '2', b: '2' })), undefined);
  assert.deepEqual(
    [byPod.manager.ownOf('u1', 'a'), byPod.manager.ownOf('u1', 'b')],
    [
      [2, 6],
      [3, 7],
    ],
  );
  assert.equal((await byPod.admit(podOf('u2', { a: '2', b: '2' })))?.reason, 'TopologyAffinityError');
});

test('a container gets no CPUs if the checkpoint cannot be written', async (context) => {
  const { manager, admit, options } = await open(context);
  await rm(options.file);
  await mkdir(options.file);
  const pod = podOf('u1', { whole: '2' });
  assert.equal((await admit(pod))?.reason, 'UnexpectedAdmissionError');
  assert.deepEqual(manager.ownOf('u1', 'whole'), []);
  await rm(options.file, { recursive: true });
  assert.equal(await admit(pod), undefined);
  assert.deepEqual((await CpuManager.open(options)).ownOf('u1', 'whole'), manager.ownOf('u1', 'whole'));
  await rm(options.file);
  await mkdir(options.file);
  await assert.rejects(manager.release('u1'));
  await manager.release('u1'); // its processors are released even if the write fails
  assert.deepEqual(manager.ownOf('u1', 'whole'), []);
});
