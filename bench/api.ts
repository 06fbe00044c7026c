/**
 * Compares the Kubernetes API of Podwright's server with that of kube-apiserver with etcd, alternating between them.
 * PODWRIGHT_KUBERNETES_BIN is the directory of kube-apiserver, PODWRIGHT_ETCD the path of etcd; if they are unset, only Podwright is
 * measured.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '@podwright/base';
import { createKubeClient, type KubeClient, NAMESPACES, NODES, PODS, readKubeconfig } from '@podwright/kube-client';
import { type ApiSide, type ApiSides, startOurs, startUpstream, TITLES, writtenBytes } from './api-sides.ts';
import type { Bench } from './bench.ts';
import { cpuTimeMs, memoryOf } from './processes.ts';
import { startPodwright } from './sides.ts';
import { median, quantile } from './tables.ts';
import { inTurns } from './turns.ts';
import { until } from './until.ts';

const ROUNDS = 100;
const LIST_ROUNDS = 20;
const LISTED = 500;
const CREATED = 1000;
const CREATORS = 10;
const STORED = 5000;
/** How long to wait until a server that has done work is at rest (its garbage collected), and how long it is then measured. */
const REST_MS = 30_000;
const STARTS = 3;
const WATCH_SECONDS = 600;
/** How long to wait until the servers have released memory and flushed pending writes. */
const SETTLE_MS = 3000;

const NAMESPACE = 'bench';
const CONFIG_MAPS = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const SERVICE_ACCOUNTS = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
};

type Names = (keyof ApiSides)[];
/**
 * A row of the report: what was measured, each side's result as text, and the ratio of Podwright's result to upstream's, which has an upper
 * bound as its goal.
 */
type ApiRow = {
  what: string;
  texts: Partial<Record<keyof ApiSides, string>>;
  ratios?: Partial<Record<keyof ApiSides, number>>;
};
type Samples = Partial<Record<keyof ApiSides, number[]>>;

export async function measureApi(bench: Pick<Bench, 'scratch' | 'sides'>): Promise<string> {
  const sides: Partial<ApiSides> = {
    podwright: await startOurs(bench, { name: 'api', durability: 'process' }),
    power: await startOurs(bench, { name: 'api-power', durability: 'power' }),
  };
  const upstream = await startUpstream(bench);
  if (upstream !== undefined) sides.upstream = upstream;
  const names = (['upstream', 'podwright', 'power'] as const).filter((name) => sides[name] !== undefined);
  const all = sides as ApiSides;
  const rows: ApiRow[] = [await starts(bench, all)];
  for (const name of names) await prepare(all[name].client);
  await sleep(SETTLE_MS);
  rows.push(memory('RSS, few objects', all, names));
  rows.push(...(await calls(all, names)));
  rows.push(await creations(all, names));
  rows.push(await stored(all, names));
  rows.push(...(await atRest(all, names)));
  for (const name of names) await all[name].stop();
  rows.push(await nodeReady(bench));
  const note =
    upstream === undefined
      ? '\nOnly Podwright was measured: PODWRIGHT_KUBERNETES_BIN and PODWRIGHT_ETCD are not set.\n'
      : '';
  return `### The Kubernetes API\n\n${table(rows, names)}\n${note}`;
}

async function prepare(client: KubeClient): Promise<void> {
  await client.create(NAMESPACES, { metadata: { name: NAMESPACE } } as never);
  const account = { metadata: { name: 'default', namespace: NAMESPACE } };
  await client.create(SERVICE_ACCOUNTS, account as never).catch(() => undefined); // a controller may have made it
}

/** A pod for POST requests. It stays Pending, because neither side runs a scheduler. */
function podOf(name: string): never {
  const env = Array.from({ length: 20 }, (_, index) => ({ name: `NAME_${index}`, value: `value of ${index}` }));
  const container = { name: 'main', image: 'registry.example/bench:1', env, ports: [{ containerPort: 80 }] };
  const metadata = { name, namespace: NAMESPACE, labels: { app: 'bench', tier: 'front' } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers: [container], automountServiceAccountToken: false },
  } as never;
}

async function starts(bench: Pick<Bench, 'scratch' | 'sides'>, sides: ApiSides): Promise<ApiRow> {
  const ours = [sides.podwright.startMs, sides.power.startMs];
  for (let round = 0; round < STARTS; round++) {
    const side = await startOurs(bench, { name: `api-start-${round}`, durability: 'process' });
    ours.push(side.startMs);
    await side.stop();
  }
  const samples: Samples = { podwright: ours, upstream: sides.upstream && [sides.upstream.startMs] };
  return rowOf('first answer after the start of the process', samples);
}

async function calls(sides: ApiSides, names: Names): Promise<ApiRow[]> {
  let serial = 0;
  const nameOf = (what: string) => `${what}-${++serial}`;
  const each = async (work: (client: KubeClient) => Promise<unknown>, rounds = ROUNDS): Promise<Samples> => {
    const turns = names.map((name) => [name, () => timed(() => work(sides[name].client))]);
    return await inTurns({ rounds, settleMs: 0 }, Object.fromEntries(turns) as Record<string, () => Promise<number>>);
  };
  for (const name of names)
    await inParallel(LISTED, (index) => sides[name].client.create(PODS, podOf(`listed-${index}`)));
  const key = { namespace: NAMESPACE, name: 'listed-0' };
  let count = 0;
  const patch = (client: KubeClient) =>
    client.patch(PODS, key, { type: 'merge', body: { metadata: { annotations: { count: String(++count) } } } });
  const watches = await Promise.all(
    names.map(async (name) => [name, await Watched.start(sides[name].client)] as const),
  );
  const events: Samples = await inTurns(
    { rounds: ROUNDS, settleMs: 0 },
    Object.fromEntries(
      watches.map(([name, watched]) => [name, () => timed(() => watched.next(() => patch(sides[name].client)))]),
    ) as Record<string, () => Promise<number>>,
  );
  for (const [, watched] of watches) watched.stop();
  return [
    rowOf('GET of a pod', await each((client) => client.get(PODS, key))),
    rowOf('create of a pod', await each((client) => client.create(PODS, podOf(nameOf('made'))))),
    rowOf('patch of a pod', await each(patch)),
    rowOf('write until its watch event', events),
    rowOf(
      `list of ${LISTED} pods`,
      await each((client) => client.list(PODS, { namespace: NAMESPACE, limit: LISTED }), LIST_ROUNDS),
    ),
  ];
}

/** A watch on the pods of one API server, for timing when a write's event arrives. */
class Watched {
  readonly #controller = new AbortController();
  #event = Promise.withResolvers<void>();

  static async start(client: KubeClient): Promise<Watched> {
    const watched = new Watched();
    const { metadata } = await client.list(PODS, { namespace: NAMESPACE, limit: 1 });
    void watched.#read(client, metadata.resourceVersion).catch((error: unknown) => watched.#event.reject(error));
    return watched;
  }

  /** Resolves once the API server has responded to the write and the watch has delivered its event. */
  async next(write: () => Promise<unknown>): Promise<void> {
    this.#event = Promise.withResolvers();
    await Promise.all([write(), this.#event.promise]);
  }

  stop(): void {
    this.#controller.abort();
  }

  async #read(client: KubeClient, resourceVersion: string | undefined): Promise<void> {
    const options = { namespace: NAMESPACE, resourceVersion, timeoutSeconds: WATCH_SECONDS };
    for await (const { type } of client.watch(PODS, options, this.#controller.signal))
      if (type === 'MODIFIED') this.#event.resolve();
  }
}

async function creations(sides: ApiSides, names: Names): Promise<ApiRow> {
  const samples: Samples = {};
  for (const name of names) {
    const create = (index: number) => sides[name].client.create(PODS, podOf(`many-${index}`));
    samples[name] = [await timed(() => inParallel(CREATED, create))];
  }
  return rowOf(`${CREATED} creates by ${CREATORS} clients`, samples);
}

async function stored(sides: ApiSides, names: Names): Promise<ApiRow> {
  const data = { text: 'x'.repeat(1000) };
  for (const name of names)
    await inParallel(STORED, (index) =>
      sides[name].client.create(CONFIG_MAPS, {
        metadata: { name: `object-${index}`, namespace: NAMESPACE },
        data,
      } as never),
    );
  await sleep(SETTLE_MS);
  return memory(`RSS with ${STORED} ConfigMaps of 1 KB more`, sides, names);
}

async function atRest(sides: ApiSides, names: Names): Promise<ApiRow[]> {
  await sleep(REST_MS);
  const cpu = (name: keyof ApiSides) => sides[name].pids.reduce((sum, pid) => sum + cpuTimeMs(pid), 0);
  const before = names.map((name) => ({ name, cpuMs: cpu(name), bytes: writtenBytes(sides[name].pids) }));
  await sleep(REST_MS);
  const percents = before.map(({ name, cpuMs }) => [name, `${((100 * (cpu(name) - cpuMs)) / REST_MS).toFixed(1)} %`]);
  const written = before.map(({ name, bytes }) => [
    name,
    `${((writtenBytes(sides[name].pids) - bytes) / 1024).toFixed(0)} KiB`,
  ]);
  return [
    { what: 'CPU at rest', texts: Object.fromEntries(percents) },
    { what: `written to disk at rest, ${REST_MS / 1000} s`, texts: Object.fromEntries(written) },
  ];
}

/** Measures the time from starting a node with an API until its Node object is Ready. */
async function nodeReady(bench: Pick<Bench, 'scratch' | 'sides'>): Promise<ApiRow> {
  const samples: number[] = [];
  for (let round = 0; round < STARTS; round++) {
    const name = `api-node-${round}`;
    const settings = '[api]\nenabled = true\nlisten = "127.0.0.1:0"';
    const beginMs = performance.now();
    const starting = startPodwright(bench.scratch, {
      name,
      command: 'node',
      setup: 'default',
      index: 16 + round,
      settings,
    });
    const kubeconfig = join(bench.scratch, name, 'run/admin.kubeconfig');
    await until(() => (existsSync(kubeconfig) ? true : undefined));
    const client = createKubeClient(await readKubeconfig(kubeconfig));
    await until(async () => ((await isNodeReady(client)) ? true : undefined));
    samples.push(performance.now() - beginMs);
    client.close();
    const side = await starting;
    bench.sides.push(side);
    await side.stop();
  }
  return rowOf('Node is Ready after the start of `podwright node`', { podwright: samples });
}

async function isNodeReady(client: KubeClient): Promise<boolean> {
  type Node = { metadata: object; status?: { conditions?: { type: string; status: string }[] } };
  const { items } = await client.list<Node>(NODES, {}).catch(() => ({ items: [] as Node[] }));
  return items.some(({ status }) => status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'));
}

async function inParallel(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: CREATORS }, worker));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beginMs = performance.now();
  await work();
  return performance.now() - beginMs;
}

function memory(what: string, sides: ApiSides, names: Names): ApiRow {
  const rss = (side: ApiSide) => side.pids.reduce((sum, pid) => sum + memoryOf(pid).rss, 0);
  return { what, texts: Object.fromEntries(names.map((name) => [name, `${rss(sides[name]).toFixed(0)} MiB`])) };
}

function rowOf(what: string, samples: Samples): ApiRow {
  const entries = Object.entries(samples).filter(([, values]) => values !== undefined) as [keyof ApiSides, number[]][];
  const ms = (value: number) => (value < 100 ? `${value.toFixed(2)} ms` : `${value.toFixed(0)} ms`);
  const text = (values: number[]) =>
    values.length < 10 ? ms(median(values)) : `${ms(median(values))}, ${ms(quantile(values, 0.99))}`;
  const { upstream } = samples;
  const ratio = (values: number[]) => (upstream === undefined ? undefined : median(values) / median(upstream));
  return {
    what,
    texts: Object.fromEntries(entries.map(([name, values]) => [name, text(values)])),
    ratios: Object.fromEntries(entries.map(([name, values]) => [name, ratio(values)])),
  };
}

function table(rows: ApiRow[], names: Names): string {
  const titles = names.flatMap((name) => (name === 'upstream' ? [TITLES[name]] : [TITLES[name], 'ratio']));
  const head = ['p50, p99', ...titles];
  const lines = rows.map(({ what, texts, ratios = {} }) => [
    what,
    ...names.flatMap((name) =>
      name === 'upstream' ? [texts[name] ?? ''] : [texts[name] ?? '', ratios[name]?.toFixed(2) ?? ''],
    ),
  ]);
  const format = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [format(head), format(head.map(() => '---')), ...lines.map(format)].join('\n');
}
