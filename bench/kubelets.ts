/** Compares the kubelet alone with upstream's (PODWRIGHT_BENCH_KUBELET is the path of its binary), each on its own containerd. */
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '@podwright/base';
import { PodSandboxState } from '@podwright/cri';
import type { Bench } from './bench.ts';
import { burst } from './bursts.ts';
import { type KubeletSide, type Sides, withKubelets } from './kubelet-sides.ts';
import { cpuTimeMs, memoryOf } from './processes.ts';
import { IMAGE, type Side } from './sides.ts';
import type { Goal, Row, Table } from './tables.ts';
import { inTurns } from './turns.ts';
import { until } from './until.ts';

const ROUNDS = 10;
const BURSTS = 5;
const FULL_NODE = 110;
const REST_MS = 30_000;

/** Measures how fast the kubelets start pods. The table's first column is empty if there is no upstream kubelet. */
export function measureKubelets(bench: Bench): Promise<Table> {
  return withKubelets(bench, { name: 'kubelets', indices: [7, 8, 10] }, async (all) => ({
    title: 'The kubelet',
    rows: await measure(all, bench),
  }));
}

async function measure(all: Sides, { containerd, podwright }: Bench): Promise<Row[]> {
  const goals: Row['goals'] = { podwright: { ratio: 0.3 }, matched: { ratio: 0.75 } };
  const one = await each(all, { rounds: ROUNDS, settleMs: 1000 }, 1);
  const twenty = await each(all, { rounds: BURSTS, settleMs: 3000 }, 20);
  const calls = (side: Side) => async () => (await burst(side, 20, { seccomp: true })).all;
  const bare = await inTurns(
    { rounds: BURSTS, settleMs: 3000 },
    { containerd: calls(containerd), podwright: calls(podwright) },
  );
  const full = await each(all, { rounds: 1, settleMs: 10_000 }, FULL_NODE);
  const rest = await atRest(all);
  const limits = (limit: number): Row['goals'] => ({ matched: { limit } as Goal });
  return [
    { what: 'one manifest written → its process runs', ...one, goals },
    { what: 'twenty manifests at once → all run', ...twenty, goals },
    { what: 'twenty sleeping containers at once by bare CRI calls, without a kubelet', ...bare, inShort: true },
    { what: `${FULL_NODE} manifests at once → all run`, ...full, goals },
    { what: `the kubelet alone with ${FULL_NODE} pods (RSS)`, unit: 'MiB', ...rest.rss, goals: limits(110) },
    { what: `its CPU with ${FULL_NODE} pods and ten probes a second`, unit: '%', ...rest.cpu, goals: limits(2) },
  ];
}

/** Measures each kubelet in turn: milliseconds until the processes of all pods run. */
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
    const probe = `, livenessProbe: { exec: { command: ["true"] }, periodSeconds: ${FULL_NODE / 10} }`;
    await runManifests(side, FULL_NODE, { probe });
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

/**
 * Changes to the container of a benchmark pod. `probe`: additional container fields. `script`: what the container runs after reporting that
 * it is up.
 */
type PodKind = { probe?: string; script?: string };

/** Writes `count` manifests. Returns the milliseconds from the first write until the processes of all pods have started. */
export async function runManifests(
  { manifests, out }: KubeletSide,
  count: number,
  { probe = '', script = 'exec sleep 3600' }: PodKind = {},
): Promise<number> {
  const before = readdirSync(out).length;
  const names = Array.from({ length: count }, () => `k${counter++}`);
  const beginMs = performance.now();
  for (const name of names) {
    // manifests are written to a temporary file and renamed, so the kubelet only sees complete ones
    const temporary = join(manifests, `.${name}.tmp`);
    writeFileSync(temporary, manifest({ name, out, probe, script }));
    renameSync(temporary, join(manifests, `${name}.yaml`));
  }
  await until(() => readdirSync(out).length >= before + count || undefined, count === 1 ? 1 : 10);
  return performance.now() - beginMs;
}

export async function removeManifests({ manifests, out, runtime }: KubeletSide): Promise<void> {
  for (const name of readdirSync(manifests)) rmSync(join(manifests, name));
  // waits until the sandboxes are stopped, because a kubelet killed while stopping one would leave its network behind
  const filter = { state: { state: PodSandboxState.SANDBOX_READY } };
  await until(async () => (await runtime.cri.runtime.listPodSandbox({ filter })).items.length === 0 || undefined, 50);
  for (const name of readdirSync(out)) rmSync(join(out, name));
}

function manifest({ name, out, probe, script }: { name: string; out: string } & Required<PodKind>): string {
  return `apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: default }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - { name: c, image: "${IMAGE}", command: [sh, -c, "touch /out/${name}; ${script}"], volumeMounts: [{ name: out, mountPath: /out }]${probe} }
  volumes: [{ name: out, hostPath: { path: "${out}" } }]
`;
}
