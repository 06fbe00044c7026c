import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { NamespaceMode, SecurityProfile_ProfileType } from '@podwright/cri';
import type { Bench } from './bench.ts';
import { IMAGE, type Side } from './sides.ts';
import type { Row, Table } from './tables.ts';
import { inTurns } from './turns.ts';

const ROUNDS = 15;
/** Pause between pods, while Podwright replenishes its ready sandboxes: this starts after 200 ms and takes about 40 ms per sandbox. */
const SETTLE_MS = 500;

/** Durations of the steps in the life of a pod with one container, in ms. */
type LifeCycle = Record<'sandbox' | 'create' | 'start' | 'up' | 'exec' | 'stop' | 'remove' | 'down', number>;

export type RunningPod = { sandboxId: string; containerId: string };

/** Measures one pod after another, with the duration of each CRI call. */
export async function measureLifeCycle({ containerd, podwright, matched, unready }: Bench): Promise<Table> {
  const samples = await inTurns(
    { rounds: ROUNDS, settleMs: SETTLE_MS },
    {
      containerd: () => lifeCycle(containerd),
      podwright: () => lifeCycle(podwright),
      matched: () => lifeCycle(matched),
      unready: () => lifeCycle(unready),
    },
  );
  const row = (what: string, step: keyof LifeCycle, goals?: Row['goals']): Row => ({
    what,
    containerd: samples.containerd.map((times) => times[step]),
    podwright: samples.podwright.map((times) => times[step]),
    matched: samples.matched.map((times) => times[step]),
    goals,
  });
  const withoutReady = (what: string, step: keyof LifeCycle): Row => ({
    what: `${what}, without ready sandboxes`,
    containerd: samples.containerd.map((times) => times[step]),
    podwright: samples.unready.map((times) => times[step]),
    inShort: step === 'up',
  });
  return {
    title: `One pod after the other, ${ROUNDS} times`,
    rows: [
      row('RunPodSandbox + CreateContainer + StartContainer', 'up', {
        podwright: { ratio: 0.24 },
        matched: { ratio: 0.48 },
      }),
      withoutReady('RunPodSandbox + CreateContainer + StartContainer', 'up'),
      row('RunPodSandbox', 'sandbox'),
      withoutReady('RunPodSandbox', 'sandbox'),
      row('CreateContainer', 'create'),
      row('StartContainer', 'start'),
      row('ExecSync of `true`', 'exec', { podwright: { ratio: 0.4 } }),
      row('stop and remove the container and the sandbox', 'down', {
        podwright: { ratio: 0.18 },
        matched: { ratio: 0.48 },
      }),
      row('StopContainer + RemoveContainer + StopPodSandbox', 'stop'),
      row('RemovePodSandbox', 'remove'),
    ],
  };
}

async function lifeCycle(side: Side): Promise<LifeCycle> {
  const { pod, times } = await bringUp(side);
  const begin = performance.now();
  await side.cri.runtime.execSync({ containerId: pod.containerId, cmd: ['true'], timeout: 10n });
  const exec = performance.now() - begin;
  return { ...times, exec, ...(await takeDown(side, pod)) };
}

let counter = 0;

/** `seccomp`: use the RuntimeDefault profile, which Podwright's kubelet requests by default and upstream's only with `seccompDefault`. */
export type PodOptions = { seccomp: boolean };

/** Starts one pod through the CRI, as a kubelet would, and returns the duration of each call. */
export async function bringUp(
  { cri, directory }: Side,
  { seccomp }: PodOptions = { seccomp: false },
): Promise<{ pod: RunningPod; times: Pick<LifeCycle, 'sandbox' | 'create' | 'start' | 'up'> }> {
  const name = `bench-${process.pid}-${counter++}`;
  const logDirectory = join(directory, 'pod-logs', name);
  mkdirSync(logDirectory, { recursive: true });
  // uses a PID namespace per container, as the kubelet requests
  const profile = seccomp ? { seccomp: { profileType: SecurityProfile_ProfileType.RuntimeDefault } } : {};
  const linux = { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER }, ...profile } };
  const metadata = { name, uid: name, namespace: 'bench', attempt: 0 };
  const sandboxConfig = { metadata, hostname: name, logDirectory, linux };
  const begin = performance.now();
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: sandboxConfig });
  const sandboxed = performance.now();
  const config = { ...sleeper('c'), logPath: 'c.log', linux };
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

/** Returns the configuration of a container that only sleeps. */
export const sleeper = (name: string) => ({
  metadata: { name, attempt: 0 },
  image: { image: IMAGE },
  command: ['sleep', '3600'],
});

/** Stops and removes a pod, with no grace period for its container. */
export async function takeDown({ cri }: Side, pod: RunningPod): Promise<Pick<LifeCycle, 'stop' | 'remove' | 'down'>> {
  const begin = performance.now();
  await cri.runtime.stopContainer({ containerId: pod.containerId, timeout: 0n });
  await cri.runtime.removeContainer({ containerId: pod.containerId });
  await cri.runtime.stopPodSandbox({ podSandboxId: pod.sandboxId });
  const stopped = performance.now();
  await cri.runtime.removePodSandbox({ podSandboxId: pod.sandboxId });
  const removed = performance.now();
  return { stop: stopped - begin, remove: removed - stopped, down: removed - begin };
}
