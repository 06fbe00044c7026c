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

/** A provider for a running pod and an ended one. */
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

/** Names of the pods in the summary, with a runtime that cannot list the statistics of all sandboxes. */
async function summaryWith(podSandboxStats: (id: string) => object) {
  const refuse = async () => {
    throw new PodwrightError('unknown', 'failed to load sandbox cgroup: cgroup deleted');
  };
  const one = async ({ podSandboxId }: { podSandboxId: string }) => podSandboxStats(podSandboxId);
  const provider = providerWith({ listPodSandboxStats: refuse, podSandboxStats: one });
  return (await provider.cpuAndMemory()).pods.map(({ podRef }) => podRef.name);
}

test('an ended pod without statistics does not hide the others', async () => {
  assert.deepEqual(await summaryWith(() => ({ stats: { linux: { containers: [] } } })), ['runs']);
});

test('it is an error if the runtime has no statistics of any running pod', async () => {
  const away = () => {
    throw new PodwrightError('unavailable', 'away');
  };
  await assert.rejects(summaryWith(away), /cgroup deleted/);
});

test('log sizes are those of running containers, and need no call of the runtime', async (t) => {
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
