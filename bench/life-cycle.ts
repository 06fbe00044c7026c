import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { NamespaceMode } from '@podwright/cri';
import { IMAGE, type RuntimeUnderTest } from './runtimes.ts';

/** Steps of one pod with one container, in ms each. */
export type LifeCycle = {
  sandbox: number;
  create: number;
  start: number;
  up: number;
  exec: number;
  stop: number;
  remove: number;
  down: number;
};

export type RunningPod = { sandboxId: string; containerId: string };

let counter = 0;

/** Brings one pod up through the CRI, as a kubelet would; tells what each call took. */
export async function bringUp(
  { cri }: RuntimeUnderTest,
  logs: string,
): Promise<{ pod: RunningPod; times: Pick<LifeCycle, 'sandbox' | 'create' | 'start' | 'up'> }> {
  const name = `bench-${process.pid}-${counter++}`;
  const logDirectory = join(logs, name);
  mkdirSync(logDirectory, { recursive: true });
  const sandboxConfig = {
    metadata: { name, uid: name, namespace: 'bench', attempt: 0 },
    hostname: name,
    logDirectory,
    // As the kubelet asks: each container has a PID namespace of its own.
    linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } },
  };
  const begin = performance.now();
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: sandboxConfig });
  const sandboxed = performance.now();
  const linux = { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } };
  const config = {
    metadata: { name: 'c', attempt: 0 },
    image: { image: IMAGE },
    command: ['sleep', '3600'],
    logPath: 'c.log',
    linux,
  };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config, sandboxConfig });
  const created = performance.now();
  await cri.runtime.startContainer({ containerId });
  const started = performance.now();
  const times = {
    sandbox: sandboxed - begin,
    create: created - sandboxed,
    start: started - created,
    up: started - begin,
  };
  return { pod: { sandboxId: podSandboxId, containerId }, times };
}

/** Stops and removes it; the container is killed at once. */
export async function takeDown(
  { cri }: RuntimeUnderTest,
  pod: RunningPod,
): Promise<Pick<LifeCycle, 'stop' | 'remove' | 'down'>> {
  const begin = performance.now();
  await cri.runtime.stopContainer({ containerId: pod.containerId, timeout: 0n });
  await cri.runtime.removeContainer({ containerId: pod.containerId });
  await cri.runtime.stopPodSandbox({ podSandboxId: pod.sandboxId });
  const stopped = performance.now();
  await cri.runtime.removePodSandbox({ podSandboxId: pod.sandboxId });
  const removed = performance.now();
  return { stop: stopped - begin, remove: removed - stopped, down: removed - begin };
}

/** One life cycle, one pod after the other. */
export async function lifeCycle(runtime: RuntimeUnderTest, logs: string): Promise<LifeCycle> {
  const { pod, times } = await bringUp(runtime, logs);
  const begin = performance.now();
  await runtime.cri.runtime.execSync({ containerId: pod.containerId, cmd: ['true'], timeout: 10n });
  const exec = performance.now() - begin;
  return { ...times, exec, ...(await takeDown(runtime, pod)) };
}

/** Several pods brought up at once: what each took, and all of them together. */
export async function burst(
  runtime: RuntimeUnderTest,
  count: number,
  logs: string,
): Promise<{ each: number[]; all: number }> {
  const begin = performance.now();
  const up = await Promise.all(Array.from({ length: count }, () => bringUp(runtime, logs)));
  const all = performance.now() - begin;
  await Promise.all(up.map(({ pod }) => takeDown(runtime, pod)));
  return { each: up.map(({ times }) => times.up), all };
}
