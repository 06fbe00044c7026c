import { sleep } from '@podwright/base';
import type { Bench } from './bench.ts';
import { bringUp, type RunningPod, takeDown } from './life-cycle.ts';
import { type BenchNode, removeManifests, runManifests, startNode } from './manifests.ts';
import { commandNames, cpuTimeMs, memoryOf, processIds } from './processes.ts';
import type { Side } from './sides.ts';
import { median, type Row, type Table } from './tables.ts';

const HELPED_PODS = 20;
/** How long a node is left idle before its memory is measured. */
const REST_MS = 30_000;
const RSS_SAMPLES = 5;
const SAMPLES_APART_MS = 1000;

/** Measures the memory and CPU time of daemons and their helper processes. */
export async function measureMemory(bench: Bench): Promise<Table> {
  return {
    title: 'Memory and CPU at rest',
    rows: [
      await helpersOfPods(bench),
      ...(await nodeAtRest(bench)),
      await nodeWithApi(bench),
      await nodeAfterWork(bench),
    ],
  };
}

async function helpersOfPods({ scratch, containerd, podwright }: Bench): Promise<Row> {
  const perPod = async (side: Side) => {
    const before = new Set(processIds());
    const pods: RunningPod[] = [];
    for (let index = 0; index < HELPED_PODS; index++) pods.push((await bringUp(side)).pod);
    const helpers = processIds().filter((pid) => !before.has(pid) && commandNames(pid, scratch));
    const pss = helpers.reduce((sum, pid) => sum + memoryOf(pid).pss, 0) / HELPED_PODS;
    await Promise.all(pods.map((pod) => takeDown(side, pod)));
    return [pss];
  };
  const samples = { containerd: await perPod(containerd), podwright: await perPod(podwright) };
  return { what: 'helper processes, a pod (PSS)', unit: 'MiB', ...samples, goals: { podwright: { limit: 2 } } };
}

async function nodeAtRest(bench: Bench): Promise<Row[]> {
  const node = await startNode(bench, { name: 'rest', setup: 'default', index: 5 });
  try {
    const fresh = await restingRss(node);
    const written = await runManifests(node, 100);
    await sleep(REST_MS);
    const cpu = await cpuShare(node);
    const full = await rss(node);
    await removeManifests(node, written);
    return [
      { what: 'the node at rest (RSS)', unit: 'MiB', podwright: fresh, goals: { podwright: { limit: 95 } } },
      { what: 'the node with 100 pods (RSS)', unit: 'MiB', podwright: full, goals: { podwright: { limit: 140 } } },
      {
        what: 'the node with 100 pods, CPU of a core',
        unit: '%',
        podwright: [100 * cpu],
        goals: { podwright: { limit: 1 } },
      },
    ];
  } finally {
    await node.stop();
  }
}

/** Starts a node with an API that only the node's own kubelet uses. */
async function nodeWithApi(bench: Bench): Promise<Row> {
  const node = await startNode(bench, { name: 'api', setup: 'default', index: 7, settings: '[api]\nenabled = true' });
  try {
    const what = 'the node with a Kubernetes API at rest (RSS)';
    return { what, unit: 'MiB', podwright: await restingRss(node), goals: { podwright: { limit: 105 } } };
  } finally {
    await node.stop();
  }
}

async function nodeAfterWork(bench: Bench): Promise<Row> {
  const image = await bench.registry.image('300 MB');
  const node = await startNode(bench, { name: 'worked', setup: 'default', index: 6 });
  try {
    await node.cri.image.pullImage({ image: { image } });
    await removeManifests(node, await runManifests(node, 20));
    const what = 'the node after a pull of 300 MB and twenty pods that came and went (RSS)';
    return { what, unit: 'MiB', podwright: await restingRss(node), goals: { podwright: { limit: 130 } } };
  } finally {
    await node.stop();
  }
}

async function restingRss(node: BenchNode): Promise<number[]> {
  await sleep(REST_MS);
  return rss(node);
}

async function rss({ pid }: Side): Promise<number[]> {
  const samples = [];
  for (let count = 0; count < RSS_SAMPLES; count++) {
    samples.push(memoryOf(pid).rss);
    await sleep(SAMPLES_APART_MS);
  }
  return [median(samples)];
}

/** Returns the fraction of one core that an idle daemon uses. */
async function cpuShare({ pid }: Side): Promise<number> {
  const [cpu, wall] = [cpuTimeMs(pid), performance.now()];
  await sleep(REST_MS);
  return (cpuTimeMs(pid) - cpu) / (performance.now() - wall);
}
