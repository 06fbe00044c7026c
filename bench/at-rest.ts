import { readFileSync } from 'node:fs';
import { Limiter, sleep } from '@podwright/base';
import { ContainerState, NamespaceMode } from '@podwright/cri';
import { bringUp, type RunningPod, takeDown } from './life-cycle.ts';
import { memoryOf } from './memory.ts';
import { IMAGE, type RuntimeUnderTest } from './runtimes.ts';
import { ratioRow, report } from './statistics.ts';

const PODS = 100;
/** Containers in all when lists are measured; most of them were created and not started. */
const LISTED = [500, 1000];
const AT_ONCE = 4;
const WATCHED_MS = 30_000;
/** How often a list is asked for, after two for warmth. */
const ROUNDS = 25;

/** What a hundred pods cost while nothing happens, and how long lists of many containers take. */
export async function measureAtRest(ours: RuntimeUnderTest, theirs: RuntimeUnderTest, logs: string): Promise<string> {
  const limiter = new Limiter(AT_ONCE);
  const many = <T>(count: number, work: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, index) => limiter.run(() => work(index))));
  const pods = await many(PODS, async () => (await bringUp(ours, logs)).pod);
  await sleep(5000); // what the start of a hundred pods has left to do
  const idle = await cpuShare(ours, () => sleep(WATCHED_MS));
  const asked = await cpuShare(ours, () => askAsKubelet(ours));
  const { rss } = memoryOf(ours.pid);
  const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
  const rows = [
    { what: 'CPU of a core, without calls', podwright: percent(idle), containerd: '', goal: '< 1 %', met: idle < 0.01 },
    { what: "CPU of a core, a kubelet's questions", podwright: percent(asked), containerd: '' },
    {
      what: 'RSS of the daemon',
      podwright: `${rss.toFixed(0)} MiB`,
      containerd: '',
      goal: '< 200 MiB',
      met: rss < 200,
    },
  ];
  const home = (await bringUp(theirs, logs)).pod;
  const lists = [];
  for (const count of LISTED) {
    await many(count - (await listed(ours)), (index) => createOnly(ours, pods[index % PODS]!));
    await many(count - (await listed(theirs)), () => createOnly(theirs, home));
    lists.push(ratioRow(`ListContainers with ${count} containers, ms`, await listTimes(ours, theirs), 1));
  }
  await many(PODS, (index) => takeDown(ours, pods[index]!));
  await takeDown(theirs, home);
  return `${report(`At rest with ${PODS} pods of one container`, rows)}\n${report('Many containers', lists)}`;
}

/** The part of one core that the runtime's process used meanwhile. */
async function cpuShare({ pid }: RuntimeUnderTest, work: () => Promise<void>): Promise<number> {
  const [cpu, wall] = [cpuTimeMs(pid), performance.now()];
  await work();
  return (cpuTimeMs(pid) - cpu) / (performance.now() - wall);
}

/** User and system time of a process; Linux counts it in hundredths of a second (proc(5), `utime`). */
function cpuTimeMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** What a kubelet asks a runtime every second while its pods just run. */
async function askAsKubelet({ cri }: RuntimeUnderTest): Promise<void> {
  for (const endMs = performance.now() + WATCHED_MS; performance.now() < endMs; await sleep(1000)) {
    await cri.runtime.version({});
    await cri.runtime.status({});
    await cri.runtime.listPodSandbox({});
    await cri.runtime.listContainers({});
  }
}

async function createOnly({ cri }: RuntimeUnderTest, { sandboxId }: RunningPod): Promise<void> {
  const linux = { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } };
  const metadata = { name: `idle-${counter++}`, attempt: 0 };
  const config = { metadata, image: { image: IMAGE }, command: ['sleep', '3600'], logPath: '', linux };
  const sandboxConfig = { metadata: { name: 'x', uid: 'x', namespace: 'bench', attempt: 0 } };
  await cri.runtime.createContainer({ podSandboxId: sandboxId, config, sandboxConfig });
}

let counter = 0;

const listed = async ({ cri }: RuntimeUnderTest) => (await cri.runtime.listContainers({})).containers.length;

async function listTimes(ours: RuntimeUnderTest, theirs: RuntimeUnderTest) {
  const samples = { podwright: [] as number[], containerd: [] as number[] };
  for (let round = -2; round < ROUNDS; round++) {
    for (const { name, cri } of [ours, theirs]) {
      const begin = performance.now();
      const { containers } = await cri.runtime.listContainers({});
      if (containers.every(({ state }) => state === ContainerState.CONTAINER_UNKNOWN)) throw new Error('a false list');
      if (round >= 0) samples[name as keyof typeof samples].push(performance.now() - begin);
    }
  }
  return samples;
}
