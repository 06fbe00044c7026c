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

/** Of a pod that runs and one that has ended. */
function providerWith(runtime: object, logs = '/none'): SummaryProvider {
  return new SummaryProvider({
    cri: { runtime } as never,
    nodeName: 'node',
    hierarchy: undefined,
    memoryBytes: 0,
    podsCgroup: '',
    rootDir: '/',
    logDirectory: ({ name }) => join(logs, name),
    hostsFile: () => '/none',
    messageDirectory: () => '/none',
    cgroupOf: () => '',
    runtimePods: () => [podOf('runs', true), podOf('ended', false)],
    podOf: () => undefined,
    volumePaths: () => new Map(),
    logger: silentLogger,
  });
}

/** What is told by a runtime that cannot list its sandboxes. */
async function summaryWith(podSandboxStats: (id: string) => object) {
  const refuse = async () => {
    throw new PodwrightError('unknown', 'failed to load sandbox cgroup: cgroup deleted');
  };
  const one = async ({ podSandboxId }: { podSandboxId: string }) => podSandboxStats(podSandboxId);
  const provider = providerWith({ listPodSandboxStats: refuse, podSandboxStats: one });
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

test('the size of logs is told of containers that run, without the runtime', async (t) => {
  const logs = mkdtempSync(join(tmpdir(), 'podwright-log-sizes-'));
  t.after(() => rmSync(logs, { recursive: true }));
  for (const pod of ['runs', 'ended'])
    for (const container of ['running', 'exited']) {
      mkdirSync(join(logs, pod, container), { recursive: true });
      writeFileSync(join(logs, pod, container, '0.log'), Buffer.alloc(5000, 'x'));
    }
  const told = await providerWith({}, logs).containerLogs();
  assert.deepEqual(
    told.map(({ pod, container, bytes }) => [pod.name, container, bytes >= 5000]),
    [['runs', 'running', true]],
  );
});
