/**
 * Measures Deployments and Services on a single node, alternating between `podwright node` with its API and upstream's control plane,
 * kubelet and kube-proxy on containerd. PODWRIGHT_KUBERNETES_BIN is the directory of upstream's programs, PODWRIGHT_ETCD the path of etcd
 * and PODWRIGHT_BENCH_KUBELET that of the kubelet; if they are unset, only Podwright is measured.
 */
import { sleep } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { type Informer, type KubeClient, PODS, SERVICES, startInformer } from '@podwright/kube-client';
import { DEPLOYMENTS } from '../tests/workloads/compare/resources.ts';
import { answers, WEB_PORT, WEB_SERVER } from './answers.ts';
import type { Bench } from './bench.ts';
import { measureFromNothing } from './from-nothing.ts';
import { cpuTimeMs, memoryOf } from './processes.ts';
import { IMAGE } from './sides.ts';
import type { Row, Table } from './tables.ts';
import { inTurns } from './turns.ts';
import { until } from './until.ts';
import { startOurNode, startUpstreamNode, type WorkloadSide } from './workload-sides.ts';

const ROUNDS = 6;
const BURST_ROUNDS = 3;
/** Replicas of the Deployment that is created, and of the one that is updated. */
const BURST = 20;
const UPDATED = 10;
/** Number of idle Deployments (`IDLE_DEPLOYMENTS`), and how long the daemons are measured at rest (`REST_MS`). */
const IDLE_DEPLOYMENTS = 10;
const REST_MS = 30_000;
const NAMESPACE = 'default';

type Deployment = KubeObject & {
  spec: { replicas: number };
  status?: { observedGeneration?: number; replicas?: number; updatedReplicas?: number; availableReplicas?: number };
};
type PodObject = KubeObject & { status?: { conditions?: { type: string; status: string }[] } };
/** A cluster, with watches of its Deployments and pods. */
type Place = WorkloadSide & { deployments: Informer<Deployment>; pods: Informer<PodObject> };
/** The measured clusters (`Places`) and the samples of a row (`Samples`), by column of the table. */
type Places = { containerd?: Place; podwright: Place };
type Samples = { containerd?: number[]; podwright: number[] };

export async function measureWorkloads(bench: Pick<Bench, 'scratch' | 'sides'>): Promise<Table> {
  const beginMs = performance.now();
  const upstream = await startUpstreamNode(bench);
  const fromNothing: Samples = { podwright: [] };
  if (upstream !== undefined) fromNothing.containerd = [await upstreamFromNothing(upstream, beginMs)];
  fromNothing.podwright = await measureFromNothing(bench);
  const ours = await startOurNode(bench);
  const places: Places = {
    podwright: await watched(ours),
    ...(upstream !== undefined && { containerd: await watched(upstream) }),
  };
  try {
    return { title: 'Workloads on one node', rows: [...(await measure(places)), nothingRow(fromNothing)] };
  } finally {
    for (const { deployments, pods } of Object.values(places)) {
      deployments.stop();
      pods.stop();
    }
    await ours.stop();
    await upstream?.stop();
  }
}

async function watched(side: WorkloadSide): Promise<Place> {
  const deployments = startInformer<Deployment>(side.client, { resource: DEPLOYMENTS, namespace: NAMESPACE });
  const pods = startInformer<PodObject>(side.client, { resource: PODS, namespace: NAMESPACE });
  await Promise.all([deployments.synced, pods.synced]);
  return { ...side, deployments, pods };
}

async function measure(places: Places): Promise<Row[]> {
  const turns = { rounds: ROUNDS, settleMs: 1000 };
  const burstTurns = { rounds: BURST_ROUNDS, settleMs: 2000 };
  const one = await each(places, turns, (place) => timeOfDeployment(place, 1));
  const burst = await each(places, burstTurns, (place) => timeOfDeployment(place, BURST));
  const update = await each(places, burstTurns, timeOfUpdate);
  const traffic = await timesOfEndpoints(places, turns);
  const idle = await measureAtRest(places);
  return [
    ...rowsOf('Deployment of 1 → available', one, 150),
    ...rowsOf(`Deployment of ${BURST} → available`, burst, 800),
    { what: `rolling update of ${UPDATED}`, ...update, goals: { podwright: { ratio: 0.25 } } },
    { what: 'pod is ready → its Service answers', ...traffic, goals: { podwright: { limit: 50 } } },
    {
      what: `RSS with ${IDLE_DEPLOYMENTS} Deployments at rest`,
      unit: 'MiB',
      ...idle.rss,
      goals: { podwright: { limit: 130 } },
    },
    {
      what: `CPU of a core with ${IDLE_DEPLOYMENTS} Deployments at rest`,
      unit: '%',
      ...idle.cpu,
      goals: { podwright: { limit: 1 } },
    },
  ];
}

/** Returns a measurement as two rows: one with the goal relative to upstream, one with the goal in milliseconds. */
function rowsOf(what: string, samples: Samples, limit: number): Row[] {
  return [
    { what, ...samples, goals: { podwright: { ratio: 0.25 } } },
    { what: `${what}, in ms`, podwright: samples.podwright, goals: { podwright: { limit } } },
  ];
}

const nothingRow = (samples: Samples): Row => ({
  what: "from nothing to an app's answer (Podwright: by the name of its Service; upstream: without DNS)",
  ...samples,
  goals: { podwright: { limit: 2000 } },
});

/** Takes a measurement on each cluster, alternating between them. */
async function each(
  places: Places,
  turns: { rounds: number; settleMs: number },
  take: (place: Place) => Promise<number>,
): Promise<Samples> {
  const all = Object.entries(places).map(([name, place]) => [name, () => take(place)]);
  return (await inTurns(turns, Object.fromEntries(all) as Record<string, () => Promise<number>>)) as Samples;
}

let counter = 0;

const container = { name: 'c', image: IMAGE, command: WEB_SERVER };

function deploymentOf(replicas: number) {
  const name = `d${counter++}`;
  const template = { metadata: { labels: { app: name } }, spec: { containers: [container] } };
  const spec = { replicas, selector: { matchLabels: { app: name } }, template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: NAMESPACE }, spec };
}

type Made = ReturnType<typeof deploymentOf>;

async function timeOfDeployment(place: Place, replicas: number): Promise<number> {
  const made = deploymentOf(replicas);
  const beginMs = performance.now();
  await place.client.create(DEPLOYMENTS, made);
  await untilAvailable(place, made);
  const tookMs = performance.now() - beginMs;
  await takeDown(place, made);
  return tookMs;
}

async function timeOfUpdate(place: Place): Promise<number> {
  const made = deploymentOf(UPDATED);
  await place.client.create(DEPLOYMENTS, made);
  await untilAvailable(place, made);
  const beginMs = performance.now();
  const template = { metadata: { annotations: { changed: 'yes' } } };
  await place.client.patch(DEPLOYMENTS, made.metadata, { type: 'merge', body: { spec: { template } } });
  await untilAvailable(place, made, 2);
  const tookMs = performance.now() - beginMs;
  await takeDown(place, made);
  return tookMs;
}

/** Waits until the watch reports that all replicas of this generation are available and that no others remain. */
async function untilAvailable({ deployments }: Place, { metadata, spec }: Made, generation = 1): Promise<void> {
  const isAvailable = () => {
    const {
      observedGeneration = 0,
      replicas,
      updatedReplicas,
      availableReplicas,
    } = deployments.get(metadata)?.status ?? {};
    const counts = [replicas, updatedReplicas, availableReplicas];
    return (observedGeneration >= generation && counts.every((count) => count === spec.replicas)) || undefined;
  };
  await until(isAvailable, 1);
}

/** Deletes a Deployment and waits until it and its pods are gone. */
async function takeDown({ client, deployments, pods }: Place, { metadata }: Made): Promise<void> {
  await client.delete(DEPLOYMENTS, metadata, { propagationPolicy: 'Background' });
  const isRemoved = () =>
    (deployments.get(metadata) === undefined &&
      pods.list().every(({ metadata: { labels } }) => labels?.app !== metadata.name)) ||
    undefined;
  await until(isRemoved);
}

const SERVICE = 'endpoint';

async function createService(client: KubeClient): Promise<string> {
  type Service = KubeObject & { spec: { clusterIP: string } };
  const spec = { selector: { app: SERVICE }, ports: [{ port: 80, targetPort: WEB_PORT }] };
  const service = { metadata: { name: SERVICE, namespace: NAMESPACE }, spec } as KubeObject;
  return (await client.create<Service>(SERVICES, service)).spec.clusterIP;
}

/**
 * Returns the times, in milliseconds, from the watch reporting a pod as ready to the first response from its Service; 0 if the response
 * arrives before the watch event.
 */
async function timesOfEndpoints(places: Places, turns: { rounds: number; settleMs: number }): Promise<Samples> {
  const addresses = new Map<Place, string>();
  for (const place of Object.values(places)) addresses.set(place, await createService(place.client));
  return await each(places, turns, async (place) => {
    const name = `e${counter++}`;
    const metadata = { name, namespace: NAMESPACE, labels: { app: SERVICE } };
    const ready = until(() => isReady(place.pods.get(metadata)) || undefined, 1).then(() => performance.now());
    const answered = until(() => answers(addresses.get(place)!), 1).then(() => performance.now());
    await place.client.create(PODS, { metadata, spec: { containers: [container] } } as KubeObject);
    const times = await Promise.all([ready, answered]);
    await place.client.delete(PODS, metadata);
    await until(() => place.pods.get(metadata) === undefined || undefined);
    await until(async () => ((await answers(addresses.get(place)!)) ? undefined : true));
    return Math.max(0, times[1] - times[0]);
  });
}

const isReady = (pod: PodObject | undefined): boolean =>
  pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

/** Returns the time from `beginMs` (before upstream's programs were started) until an app first responds through its Service. */
async function upstreamFromNothing({ client }: WorkloadSide, beginMs: number): Promise<number> {
  const made = deploymentOf(1);
  const { spec, metadata } = made;
  await client.create(DEPLOYMENTS, made);
  type Service = KubeObject & { spec: { clusterIP: string } };
  const ports = [{ port: 80, targetPort: WEB_PORT }];
  const service = { metadata, spec: { selector: spec.selector.matchLabels, ports } } as KubeObject;
  const { spec: stored } = await client.create<Service>(SERVICES, service);
  await until(() => answers(stored.clusterIP));
  const tookMs = performance.now() - beginMs;
  await client.delete(SERVICES, metadata);
  await client.delete(DEPLOYMENTS, metadata, { propagationPolicy: 'Foreground' });
  return tookMs;
}

/**
 * Returns the total memory in MiB and CPU use in percent of one core of each cluster's daemons, while the pods of its Deployments are idle.
 */
async function measureAtRest(places: Places): Promise<{ rss: Samples; cpu: Samples }> {
  const all = Object.entries(places) as [keyof Places, Place][];
  for (const [, place] of all) {
    const made = Array.from({ length: IDLE_DEPLOYMENTS }, () => deploymentOf(1));
    for (const one of made) await place.client.create(DEPLOYMENTS, one);
    for (const one of made) await untilAvailable(place, one);
  }
  await sleep(REST_MS);
  const cpuOf = ({ pids }: Place) => pids.reduce((sum, pid) => sum + cpuTimeMs(pid), 0);
  const before = all.map(([, place]) => cpuOf(place));
  const beginMs = performance.now();
  await sleep(REST_MS);
  const cpu = all.map(([name, place], index) => {
    const percent = (100 * (cpuOf(place) - before[index]!)) / (performance.now() - beginMs);
    return [name, [percent]] as const;
  });
  const rss = all.map(([name, { pids }]) => [name, [pids.reduce((sum, pid) => sum + memoryOf(pid).rss, 0)]] as const);
  return { rss: Object.fromEntries(rss) as unknown as Samples, cpu: Object.fromEntries(cpu) as unknown as Samples };
}
