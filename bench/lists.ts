import { Limiter } from '@podwright/base';
import { NamespaceMode } from '@podwright/cri';
import type { Bench } from './bench.ts';
import { bringUp, type RunningPod, sleeper, takeDown } from './life-cycle.ts';
import type { Side } from './sides.ts';
import type { Table } from './tables.ts';
import { inTurns } from './turns.ts';

const PODS = 5;
const CONTAINERS_PER_POD = 100;
const AT_ONCE = 4;
const ROUNDS = 25;

/** Measures ListContainers with many containers, most of which are not started. */
export async function measureLists({ containerd, podwright }: Bench): Promise<Table> {
  const homes = { containerd: await fill(containerd), podwright: await fill(podwright) };
  const samples = await inTurns(
    { rounds: ROUNDS, settleMs: 0 },
    { containerd: () => list(containerd), podwright: () => list(podwright) },
  );
  await Promise.all(homes.containerd.map((pod) => takeDown(containerd, pod)));
  await Promise.all(homes.podwright.map((pod) => takeDown(podwright, pod)));
  const goals = { podwright: { ratio: 0.9 } };
  return { title: `Lists, ${ROUNDS} times`, rows: [{ what: 'ListContainers, 500 containers', ...samples, goals }] };
}

async function fill(side: Side): Promise<RunningPod[]> {
  const limiter = new Limiter(AT_ONCE);
  const pods: RunningPod[] = [];
  for (let pod = 0; pod < PODS; pod++) pods.push((await bringUp(side)).pod);
  const idle = Array.from({ length: CONTAINERS_PER_POD - 1 }, (_, index) => `idle-${index}`);
  const creations = pods.flatMap((pod) => idle.map((name) => ({ pod, name: `${name}-${pod.sandboxId.slice(0, 8)}` })));
  await Promise.all(creations.map(({ pod, name }) => limiter.run(() => createOnly(side, pod, name))));
  return pods;
}

async function createOnly({ cri }: Side, { sandboxId }: RunningPod, name: string): Promise<void> {
  const linux = { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } };
  const sandboxConfig = { metadata: { name: 'x', uid: 'x', namespace: 'bench', attempt: 0 } };
  await cri.runtime.createContainer({
    podSandboxId: sandboxId,
    config: { ...sleeper(name), logPath: '', linux },
    sandboxConfig,
  });
}

async function list({ cri }: Side): Promise<number> {
  const begin = performance.now();
  const { containers } = await cri.runtime.listContainers({});
  const took = performance.now() - begin;
  if (containers.length !== PODS * CONTAINERS_PER_POD) throw new Error(`a list of ${containers.length} containers`);
  return took;
}
