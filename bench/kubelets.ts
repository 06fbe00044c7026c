/** The kubelet alone, against upstream's (PODWRIGHT_BENCH_KUBELET names its binary), each on a containerd of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '@podwright/base';
import { ContainerState } from '@podwright/cri';
import { startUpstreamKubelet } from '../scripts/upstream-kubelet.ts';
import type { Bench } from './bench.ts';
import { cpuTimeMs, memoryOf } from './processes.ts';
import { BRIDGE, IMAGE, loadImage, type Side, startContainerd, startPodwright } from './sides.ts';
import type { Goal, Row, Table } from './tables.ts';
import { inTurns } from './turns.ts';
import { until } from './until.ts';

const UPSTREAM = process.env.PODWRIGHT_BENCH_KUBELET;
const ROUNDS = 10;
const BURSTS = 5;
const FULL_NODE = 110;
const REST_MS = 30_000;
const PORTS = { readOnly: 10955, https: 10950, healthz: 10948 };

/** A kubelet with a directory of manifests; its pods tell that they run by a file in `out`. */
type KubeletSide = { runtime: Side; manifests: string; out: string; pid: number; stop: () => Promise<void> };
type Sides = Record<'containerd' | 'podwright' | 'matched', KubeletSide>;

/**
 * In the columns: upstream's kubelet on containerd, ours with our runtime (`podwright node`), and ours on containerd as it is
 * for upstream's. Without upstream's the first column is empty.
 */
export async function measureKubelets({ scratch, sides }: Bench): Promise<Table> {
  const started: KubeletSide[] = [];
  const start = async (name: string, index: number, begin: (directory: string) => Promise<ChildProcess>) => {
    const runtime = await startContainerd(scratch, { name, index });
    sides.push(runtime);
    const manifests = join(runtime.directory, 'manifests');
    mkdirSync(manifests, { recursive: true });
    const side = kubeletSide(runtime, manifests, await begin(runtime.directory));
    started.push(side);
    return side;
  };
  try {
    const node = await startPodwright(scratch, { name: 'kubelets-node', command: 'node', setup: 'default', index: 7 });
    sides.push(node);
    await loadImage(node);
    const podwright = { ...kubeletSide(node, join(node.directory, 'root/manifests')), pid: node.pid };
    const all = {
      podwright,
      matched: await start('kubelets-ours', 8, ourKubelet),
      ...(UPSTREAM !== undefined && { containerd: await start('kubelets-upstream', 10, upstreamKubelet) }),
    };
    return { title: 'The kubelet', rows: await measure(all as Sides) };
  } finally {
    for (const { stop } of started) await stop();
  }
}

async function measure(all: Sides): Promise<Row[]> {
  const goals: Row['goals'] = { podwright: { ratio: 0.3 }, matched: { ratio: 0.75 } };
  const one = await each(all, { rounds: ROUNDS, settleMs: 1000 }, 1);
  const twenty = await each(all, { rounds: BURSTS, settleMs: 3000 }, 20);
  const full = await each(all, { rounds: 1, settleMs: 10_000 }, FULL_NODE);
  const rest = await atRest(all);
  const limits = (limit: number): Row['goals'] => ({ matched: { limit } as Goal });
  return [
    { what: 'one manifest written → its process runs', ...one, goals },
    { what: 'twenty manifests at once → all run', ...twenty, goals },
    { what: `${FULL_NODE} manifests at once → all run`, ...full, goals },
    { what: `the kubelet alone with ${FULL_NODE} pods (RSS)`, unit: 'MiB', ...rest.rss, goals: limits(110) },
    { what: `its CPU with ${FULL_NODE} pods and ten probes a second`, unit: '%', ...rest.cpu, goals: limits(2) },
  ];
}

/** In turns, for each kubelet: milliseconds until every pod's process runs. */
function each(all: Sides, turns: { rounds: number; settleMs: number }, count: number) {
  const take = (side: KubeletSide) => async () => {
    const written = await runManifests(side, count);
    await removeManifests(side);
    return written;
  };
  const names = Object.keys(all) as (keyof Sides)[];
  return inTurns(
    turns,
    Object.fromEntries(names.map((name) => [name, take(all[name])])) as Record<keyof Sides, () => Promise<number>>,
  );
}

async function atRest(all: Sides) {
  const rss: Pick<Row, keyof Sides> = { podwright: [] };
  const cpu: Pick<Row, keyof Sides> = { podwright: [] };
  for (const name of Object.keys(all) as (keyof Sides)[]) {
    const side = all[name];
    await runManifests(
      side,
      FULL_NODE,
      `, livenessProbe: { exec: { command: ["true"] }, periodSeconds: ${FULL_NODE / 10} }`,
    );
    await sleep(REST_MS);
    const [beforeMs, wallMs] = [cpuTimeMs(side.pid), performance.now()];
    await sleep(REST_MS);
    cpu[name] = [(100 * (cpuTimeMs(side.pid) - beforeMs)) / (performance.now() - wallMs)];
    rss[name] = [memoryOf(side.pid).rss];
    await removeManifests(side);
  }
  return { rss, cpu };
}

let counter = 0;

async function runManifests({ manifests, out }: KubeletSide, count: number, probe = ''): Promise<number> {
  const names = Array.from({ length: count }, () => `k${counter++}`);
  const beginMs = performance.now();
  for (const name of names) {
    // Written beside and renamed, as tools write files that others watch.
    const temporary = join(manifests, `.${name}.tmp`);
    writeFileSync(temporary, manifest({ name, out, probe }));
    renameSync(temporary, join(manifests, `${name}.yaml`));
  }
  await until(() => readdirSync(out).length >= count || undefined, 1);
  return performance.now() - beginMs;
}

async function removeManifests({ manifests, out, runtime }: KubeletSide): Promise<void> {
  for (const name of readdirSync(manifests)) rmSync(join(manifests, name));
  const filter = { state: { state: ContainerState.CONTAINER_RUNNING } };
  await until(
    async () => (await runtime.cri.runtime.listContainers({ filter })).containers.length === 0 || undefined,
    50,
  );
  for (const name of readdirSync(out)) rmSync(join(out, name));
}

function manifest({ name, out, probe }: { name: string; out: string; probe: string }): string {
  return `apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: default }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - { name: c, image: "${IMAGE}", command: [sh, -c, "touch /out/${name}; exec sleep 3600"], volumeMounts: [{ name: out, mountPath: /out }]${probe} }
  volumes: [{ name: out, hostPath: { path: "${out}" } }]
`;
}

function kubeletSide(runtime: Side, manifests: string, child?: ChildProcess): KubeletSide {
  const out = join(runtime.directory, 'out');
  mkdirSync(out, { recursive: true });
  const ended = new Promise((resolve) => child?.once('exit', resolve));
  const stop = async () => {
    if (child === undefined || child.exitCode !== null) return;
    child.kill('SIGTERM');
    await ended;
  };
  return { runtime, manifests, out, pid: child?.pid ?? runtime.pid, stop };
}

async function ourKubelet(directory: string): Promise<ChildProcess> {
  const config = join(directory, 'kubelet.toml');
  writeFileSync(
    config,
    `root = "${directory}/kubelet"
state = "${directory}/kubelet-run"
manifests = "${directory}/manifests"
pod_logs = "${directory}/logs"
cgroup_parent = "/${BRIDGE}8"
log_level = "warn"
`,
  );
  const program = new URL('../bin/podwright', import.meta.url).pathname;
  const endpoint = `unix://${directory}/c.sock`;
  const args = ['--config', config, 'kubelet', '--container-runtime-endpoint', endpoint];
  const log = openSync(join(directory, 'kubelet.log'), 'a');
  const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
  return spawn(program, args, { stdio: ['ignore', log, log], env: { ...process.env, PATH } });
}

async function upstreamKubelet(directory: string): Promise<ChildProcess> {
  const { child } = await startUpstreamKubelet({
    program: UPSTREAM!,
    directory,
    root: join(directory, 'kubelet'),
    manifests: join(directory, 'manifests'),
    logs: join(directory, 'logs'),
    endpoint: `unix://${directory}/c.sock`,
    ports: PORTS,
    cgroupRoot: `/${BRIDGE}10`,
  });
  return child;
}
