import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PodwrightError, silentLogger } from '@podwright/base';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { SummaryProvider } from './summary-provider.ts';

function podOf(name: string, ready: boolean): RuntimePodStatus {
  const pod = { name, namespace: 'default', uid: name };
  const containers = ['running', 'exited'].map((state) => ({ id: `${name}-${state}`, name: state, state }));
  const sandboxes = [{ id: `${name}-0`, ready, createdAtMs: 0 }];
  return { pod, sandboxes, containers } as unknown as RuntimePodStatus;
}

/** Returns a SummaryProvider for a running and a terminated pod. */
function providerWith(runtime: object, logs = '/none', ready = ['runs']): SummaryProvider {
  const image = { imageFsInfo: () => new Promise<never>(() => undefined) };
  return new SummaryProvider({
    cri: { runtime, image } as never,
    nodeName: 'node',
    hierarchy: undefined,
    memoryBytes: 0,
    podsCgroup: '',
    rootDir: '/',
    logDirectory: ({ name }) => join(logs, name),
    hostsFile: () => '/none',
    messageDirectory: () => '/none',
    cgroupOf: () => '',
    runtimePods: () => [...ready.map((name) => podOf(name, true)), podOf('ended', false)],
    podOf: () => undefined,
    volumePaths: () => new Map(),
    freeze: async () => undefined,
    logger: silentLogger,
  });
}

/** Returns the names of the pods in the summary if the runtime cannot list the statistics of all sandboxes at once. */
async function summaryWith(podSandboxStats: (id: string) => object) {
  const refuse = async () => {
    throw new PodwrightError('unknown', 'failed to load sandbox cgroup: cgroup deleted');
  };
  const one = async ({ podSandboxId }: { podSandboxId: string }) => podSandboxStats(podSandboxId);
  const provider = providerWith({ listPodSandboxStats: refuse, podSandboxStats: one });
  return (await provider.cpuAndMemory()).pods.map(({ podRef }) => podRef.name);
}

test('a terminated pod without statistics does not hide the others', async () => {
  assert.deepEqual(await summaryWith(() => ({ stats: { linux: { containers: [] } } })), ['runs']);
});

test('it is an error if the runtime has no statistics for any running pod', async () => {
  const away = () => {
    throw new PodwrightError('unavailable', 'away');
  };
  await assert.rejects(summaryWith(away), /cgroup deleted/);
});

test('for disks, a pod without statistics is partial, and neither it nor an unresponsive runtime hides the other pods', async () => {
  const writableLayer = { timestamp: 0n, usedBytes: { value: 7n }, inodesUsed: { value: 1n } };
  const stats = [{ attributes: { id: 'runs-0' }, linux: { containers: [{ writableLayer }] } }];
  let isHung = false;
  const listPodSandboxStats = () => (isHung ? new Promise<never>(() => undefined) : Promise.resolve({ stats }));
  const provider = providerWith({ listPodSandboxStats }, '/none', ['runs', 'hides']);
  const found = async (timeoutMs: number) => {
    const disk = { signal: AbortSignal.timeout(timeoutMs) };
    const pods = await provider.podStats(new Set(['runs', 'hides']), { fresh: true, disk });
    return pods.map(({ podRef, isPartial, disks }) => [podRef.name, isPartial, disks?.layers.bytes]);
  };
  assert.deepEqual(await found(10_000), [
    ['runs', false, 7],
    ['hides', true, 0],
  ]);
  isHung = true;
  assert.deepEqual(await found(50), [
    ['runs', true, 7],
    ['hides', true, 0],
  ]);
});

test('log sizes cover running containers, and require no call to the runtime', async (t) => {
  const logs = mkdtempSync(join(tmpdir(), 'podwright-log-sizes-'));
  t.after(() => rmSync(logs, { recursive: true }));
  for (const pod of ['runs', 'ended'])
    for (const container of ['running', 'exited']) {
      mkdirSync(join(logs, pod, container), { recursive: true });
      writeFileSync(join(logs, pod, container, '0.log'), Buffer.alloc(5000, 'x'));
    }
  const found = await providerWith({}, logs).containerLogs();
  assert.deepEqual(
    found.map(({ pod, container, bytes }) => [pod.name, container, bytes >= 5000]),
    [['runs', 'running', true]],
  );
});
