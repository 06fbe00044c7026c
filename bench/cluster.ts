/**
 * Compares nodes that have joined a real control plane, alternating between them: upstream's kubelet on containerd, `podwright node`, and
 * Podwright's kubelet on containerd. PODWRIGHT_KUBERNETES_BIN is the directory of kube-apiserver, kube-controller-manager and
 * kube-scheduler, PODWRIGHT_ETCD the path of etcd.
 */
import { sleep } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { type Informer, PODS, startInformer } from '@podwright/kube-client';
import type { Bench } from './bench.ts';
import { type ClusterNode, type ClusterNodes, type MeasuredCluster, withCluster } from './cluster-nodes.ts';
import { memoryOf } from './processes.ts';
import { IMAGE } from './sides.ts';
import type { Row, Table } from './tables.ts';
import { inTurns } from './turns.ts';
import { until } from './until.ts';

const ROUNDS = 10;
const BURSTS = 5;
const BURST = 20;
const FULL_NODE = 110;
const FULL_ROUNDS = 10;
/** How often a node reports an unchanged status. */
const REST_MS = 300_000;
const NAMESPACE = 'default';

type PodObject = KubeObject & { status?: { phase?: string; containerStatuses?: { ready: boolean }[] } };
type Times = { upMs: number; goneMs: number };
type Places = MeasuredCluster & { seen: Informer<PodObject> };

export function measureCluster(bench: Bench): Promise<Table> {
  return withCluster(bench, async ({ client, nodes }) => {
    const seen = startInformer<PodObject>(client, { resource: PODS, namespace: NAMESPACE });
    await seen.synced;
    try {
      return await measure({ client, nodes, seen });
    } finally {
      seen.stop();
    }
  });
}

async function measure(places: Places): Promise<Table> {
  const { nodes } = places;
  const one = await each(places, { rounds: ROUNDS, settleMs: 1000 }, { count: 1, hasToken: false });
  const token = await each(places, { rounds: ROUNDS, settleMs: 1000 }, { count: 1, hasToken: true });
  const twenty = await each(places, { rounds: BURSTS, settleMs: 3000 }, { count: BURST, hasToken: false });
  const twentyTokens = await each(places, { rounds: BURSTS, settleMs: 3000 }, { count: BURST, hasToken: true });
  const rss = await memoryOfNodes(places);
  const rest = await bytesAtRest(nodes);
  const full = await fullNode(places);
  const goals = (ratio: number): Row['goals'] => ({ podwright: { ratio } });
  const up = (samples: Samples) => column(samples, ({ upMs }) => upMs);
  const gone = (samples: Samples) => column(samples, ({ goneMs }) => goneMs);
  const rows: Row[] = [
    { what: 'POST → Running', ...up(one), goals: goals(0.35) },
    { what: 'POST → Running, with a token', ...up(token), goals: goals(0.35) },
    { what: `${BURST} at once, the last Running`, ...up(twenty), goals: goals(0.4) },
    { what: `${BURST} at once with tokens, the last Running`, ...up(twentyTokens), goals: goals(0.4) },
    { what: 'DELETE → gone', ...gone(one), goals: goals(0.5) },
    { what: `DELETE of ${BURST} → all gone`, ...gone(twenty), goals: goals(0.5) },
    { what: `RSS with ${BURST} pods`, unit: 'MiB', ...rss, goals: { podwright: { limit: 160 } } },
    { what: 'KiB a minute at rest, both ways', unit: 'KiB', ...rest, goals: goals(1) },
  ];
  return { title: 'A node of a cluster', rows, below: full };
}

type Samples = Record<keyof ClusterNodes, Times[]>;

function column(samples: Samples, value: (times: Times) => number) {
  const names = Object.keys(samples) as (keyof ClusterNodes)[];
  return Object.fromEntries(names.map((name) => [name, samples[name].map(value)])) as Record<
    keyof ClusterNodes,
    number[]
  >;
}

function each(
  places: Places,
  turns: { rounds: number; settleMs: number },
  kind: { count: number; hasToken: boolean },
): Promise<Samples> {
  const names = Object.keys(places.nodes) as (keyof ClusterNodes)[];
  const take = (node: ClusterNode) => async () => {
    const pods = podsOf(node, kind);
    return { upMs: await bringUp(places, pods), goneMs: await takeDown(places, pods) };
  };
  const all = Object.fromEntries(names.map((name) => [name, take(places.nodes[name])]));
  return inTurns(turns, all as Record<keyof ClusterNodes, () => Promise<Times>>);
}

let counter = 0;

function podsOf({ name: nodeName }: ClusterNode, { count, hasToken }: { count: number; hasToken: boolean }) {
  return Array.from({ length: count }, () => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `b${counter++}`, namespace: NAMESPACE },
    spec: {
      nodeName,
      automountServiceAccountToken: hasToken,
      terminationGracePeriodSeconds: 30,
      // a shell running as process 1 ignores signals it has no trap for
      containers: [{ name: 'c', image: IMAGE, command: ['sh', '-c', 'trap exit TERM; sleep 3600 & wait'] }],
    },
  }));
}

type Pods = ReturnType<typeof podsOf>;

/** Returns the milliseconds from the first POST until a watcher sees all pods Running. */
async function bringUp({ client, seen }: Places, pods: Pods): Promise<number> {
  const beginMs = performance.now();
  await Promise.all(pods.map((pod) => client.create(PODS, pod)));
  await until(() => pods.every((pod) => isRunning(seen.get(pod.metadata))) || undefined, 1);
  return performance.now() - beginMs;
}

const isRunning = (pod: PodObject | undefined) =>
  pod?.status?.phase === 'Running' && (pod.status.containerStatuses ?? []).every(({ ready }) => ready);

/** Returns the milliseconds from the first DELETE until a watcher sees all pods removed. */
async function takeDown({ client, seen }: Places, pods: Pods): Promise<number> {
  const beginMs = performance.now();
  await Promise.all(pods.map(({ metadata }) => client.delete(PODS, metadata)));
  await until(() => pods.every((pod) => seen.get(pod.metadata) === undefined) || undefined, 1);
  return performance.now() - beginMs;
}

const rssOf = ({ pids }: ClusterNode) => pids.reduce((sum, pid) => sum + memoryOf(pid).rss, 0);

async function memoryOfNodes(places: Places) {
  const rss: Partial<Record<keyof ClusterNodes, number[]>> & { podwright: number[] } = { podwright: [] };
  for (const name of Object.keys(places.nodes) as (keyof ClusterNodes)[]) {
    const node = places.nodes[name];
    const pods = podsOf(node, { count: BURST, hasToken: true });
    await bringUp(places, pods);
    await sleep(10_000);
    rss[name] = [rssOf(node)];
    await takeDown(places, pods);
  }
  return rss;
}

/** Measures the network traffic of nodes without pods, on all nodes at the same time. */
async function bytesAtRest(nodes: ClusterNodes) {
  await sleep(15_000);
  const entries = Object.entries(nodes) as [keyof ClusterNodes, ClusterNode][];
  const before = entries.map(([, node]) => node.counter.bytes);
  await sleep(REST_MS);
  const perMinute = entries.map(([name, node], index) => {
    return [name, [((node.counter.bytes - before[index]!) / 1024) * (60_000 / REST_MS)]] as const;
  });
  return Object.fromEntries(perMinute) as unknown as Record<keyof ClusterNodes, number[]>;
}

/** Repeatedly starts and removes the maximum number of pods per node, on `podwright node` only. */
async function fullNode(places: Places): Promise<string> {
  const node = places.nodes.podwright;
  const rounds: string[] = [];
  for (let round = 0; round < FULL_ROUNDS; round++) {
    const pods = podsOf(node, { count: FULL_NODE, hasToken: true });
    const upMs = await bringUp(places, pods);
    const goneMs = await takeDown(places, pods);
    rounds.push(`${(upMs / 1000).toFixed(1)}/${(goneMs / 1000).toFixed(1)} s ${rssOf(node).toFixed(0)} MiB`);
  }
  return `${FULL_NODE} pods with tokens, up/gone and RSS afterwards, ${FULL_ROUNDS} rounds: ${rounds.join(', ')}.\n`;
}
