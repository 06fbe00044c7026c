import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError, silentLogger } from '@podwright/base';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { SummaryProvider } from './summary-provider.ts';

/** What is told of a pod that runs and one that has ended, by a runtime that cannot list its sandboxes. */
async function summaryWith(podSandboxStats: (id: string) => object) {
  const refuse = async () => {
    throw new PodwrightError('unknown', 'failed to load sandbox cgroup: cgroup deleted');
  };
  const one = async ({ podSandboxId }: { podSandboxId: string }) => podSandboxStats(podSandboxId);
  const podOf = (name: string, ready: boolean) => {
    const pod = { name, namespace: 'default', uid: name };
    return {
      pod,
      sandboxes: [{ id: `${name}-0`, ready, createdAtMs: 0 }],
      containers: [],
    } as unknown as RuntimePodStatus;
  };
  const provider = new SummaryProvider({
    cri: { runtime: { listPodSandboxStats: refuse, podSandboxStats: one } } as never,
    nodeName: 'node',
    hierarchy: undefined,
    memoryBytes: 0,
    cgroupRoot: '',
    rootDir: '/',
    logDirectory: () => '/none',
    hostsFile: () => '/none',
    runtimePods: () => [podOf('runs', true), podOf('ended', false)],
    podOf: () => undefined,
    volumePaths: () => new Map(),
    logger: silentLogger,
  });
  return (await provider.cpuAndMemory()).pods.map(({ podRef }) => podRef.name);
}

test('an ended pod of which the runtime can tell nothing hides no other', async () => {
  assert.deepEqual(await summaryWith(() => ({ stats: { linux: { containers: [] } } })), ['runs']);
});

test('a runtime that tells of no pod that runs is an error', async () => {
  const away = () => {
    throw new PodwrightError('unavailable', 'away');
  };
  await assert.rejects(summaryWith(away), /cgroup deleted/);
});
