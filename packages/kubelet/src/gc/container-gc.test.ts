import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Logger, PodwrightError } from '@podwright/base';
import { FakeRuntime } from '@podwright/cri/testing';
import type { RuntimeContainer, RuntimePodStatus, RuntimeSandbox } from '../kubecontainer/runtime-pod.ts';
import { collectContainers, collectUnusedContainers, pruneContainers } from './container-gc.ts';

const logs = mkdtempSync(join(tmpdir(), 'podwright-gc-'));
after(() => rmSync(logs, { recursive: true }));

/** Starts a pod with three exited containers of the same name, each with a log, and an older dead sandbox. */
async function start() {
  const runtime = new FakeRuntime({ images: ['busybox:1'] });
  const { runtime: cri } = runtime.client;
  const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
  const sandboxConfig = { metadata: { ...metadata, attempt: 0 } };
  const { podSandboxId: old } = await cri.runPodSandbox({ config: sandboxConfig });
  await cri.stopPodSandbox({ podSandboxId: old });
  const { podSandboxId } = await cri.runPodSandbox({ config: sandboxConfig });
  const containers: RuntimeContainer[] = [];
  for (const attempt of [0, 1, 2]) {
    const config = { metadata: { name: 'app', attempt }, image: { image: 'busybox:1' } };
    const { containerId: id } = await cri.createContainer({ podSandboxId, config, sandboxConfig });
    const logPath = join(logs, `${attempt}.log`);
    for (const file of [logPath, `${logPath}.20260101-000000`, `${logPath}.20260101-000000.gz`])
      writeFileSync(file, 'a line\n');
    const facts = { id, name: 'app', state: 'exited', sandboxId: podSandboxId, createdAtMs: attempt, logPath };
    containers.unshift(facts as RuntimeContainer);
  }
  const sandboxes = [
    { id: podSandboxId, ready: true },
    { id: old, ready: false },
  ] as RuntimeSandbox[];
  const pod: RuntimePodStatus = { pod: metadata, sandboxes, containers };
  const warnings: object[] = [];
  const logger = { warn: (fields: object) => void warnings.push(fields) } as unknown as Logger;
  const collect = (maxPerContainer: number, signal?: AbortSignal) => {
    const policy = { maxPerContainer, maxContainers: -1, minAgeMs: 0 };
    return collectContainers({ cri: runtime.client, logger, policy, signal }, [pod]);
  };
  const left = () => runtime.containers.map(({ config }) => config.metadata?.attempt);
  const prune = (maxPerContainer: number) =>
    pruneContainers(
      { cri: runtime.client, logger, policy: { maxPerContainer, maxContainers: -1, minAgeMs: 60_000 } },
      pod,
    );
  const collectUnused = (hasEnded: boolean) => {
    const policy = { maxPerContainer: 2, maxContainers: -1, minAgeMs: 0 };
    return collectUnusedContainers({ cri: runtime.client, logger, policy }, [pod], () => hasEnded);
  };
  return { runtime, containers, collect, collectUnused, prune, left, warnings };
}

const hasLog = (attempt: number) => readdirSync(logs).some((name) => name.startsWith(`${attempt}.log`));

test('dead containers over the limit are removed with their logs, and so are unused sandboxes', async () => {
  const { runtime, collect, left, warnings } = await start();
  await collect(1);
  assert.deepEqual(left(), [1, 2]);
  assert.deepEqual([hasLog(0), hasLog(1), hasLog(2)], [false, true, true]);
  assert.equal(runtime.sandboxes.length, 1);
  assert.deepEqual(warnings, []);
});

test('a replaced container in the unknown state is stopped and removed', async () => {
  const { runtime, containers, collect, left } = await start();
  for (const container of containers.slice(0, 2)) container.state = 'unknown';
  await collect(0);
  assert.deepEqual(left(), [2]);
  const stopped = runtime.calls.filter(({ method }) => method === 'stopContainer');
  assert.deepEqual(
    stopped.map(({ request }) => ('containerId' in request ? request.containerId : '')),
    [containers[1]!.id],
  );
});

test('an abort ends the wait for a runtime that does not stop such a container', async () => {
  const { runtime, containers, collect, warnings } = await start();
  for (const container of containers) container.state = 'unknown';
  runtime.inject('stopContainer', { delayMs: 3_600_000 });
  const [stop, waiting] = [new AbortController(), performance.now()];
  setTimeout(() => stop.abort(), 20);
  assert.deepEqual(await collect(0, stop.signal), []);
  assert.deepEqual(warnings, []);
  assert.equal(performance.now() - waiting < 10_000, true);
});

test('a container that cannot be removed keeps its log, is retried, and does not block the others', async () => {
  const { runtime, collect, left, warnings } = await start();
  runtime.inject('removeContainer', { error: new PodwrightError('unavailable', 'away'), times: 1 });
  await collect(0);
  assert.deepEqual(left(), [0, 2]);
  assert.deepEqual([hasLog(0), hasLog(1)], [true, false]);
  assert.equal(warnings.length, 1);
  await collect(0);
  assert.deepEqual(left(), [2]);
});

test('when a container exits, its predecessors are removed with all their logs, whatever their age', async () => {
  const { prune, left, runtime, warnings } = await start();
  await prune(2);
  assert.deepEqual(left(), [1, 2]);
  runtime.inject('removeContainer', { error: new PodwrightError('not_found', 'gone'), times: 1 });
  await prune(0);
  await prune(0);
  assert.deepEqual(left(), [2]);
  assert.deepEqual([hasLog(0), hasLog(1), hasLog(2)], [false, false, true]);
  assert.deepEqual(warnings, []);
});

test('collectUnusedContainers removes all dead containers of finished pods, and applies the limits to other pods', async () => {
  const { runtime, collectUnused, left } = await start();
  await collectUnused(false);
  assert.deepEqual(left(), [0, 1, 2]);
  await collectUnused(true);
  assert.deepEqual(left(), []);
  assert.equal(runtime.sandboxes.length, 1, 'a ready sandbox is not dead');
});
