/**
 * `make bench`: compares Podwright with containerd and runc, driven by the same client and alternating between them. Prints Markdown; `node
 * bench/main.ts life-cycle memory …` measures only the given parts. `PODWRIGHT_BENCH_CONTAINERD` and `PODWRIGHT_BENCH_RUNC` override the
 * programs in PATH; a shim and ctr are expected in containerd's directory. `PODWRIGHT_BENCH_KUBELET` is the path of upstream's kubelet,
 * which the parts `kubelets`, `streams` and `crashes` compare with Podwright's, and `PODWRIGHT_BENCH_CRI_DOCKERD` that of cri-dockerd, for
 * the part `dockershim`. The part `critest` needs critest (`PODWRIGHT_BENCH_CRITEST`), and the parts `cluster`, `api`, `workloads` and
 * `services` need the binaries of a control plane, the last three only for comparison.
 */
import { mkdtempSync } from 'node:fs';
import { availableParallelism, loadavg, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChecked } from '@podwright/host';
import { measureApi } from './api.ts';
import type { Bench } from './bench.ts';
import { measureBursts } from './bursts.ts';
import { measureCluster } from './cluster.ts';
import { measureCommands } from './commands.ts';
import { measureCrashes } from './crashes.ts';
import { measureCritest } from './critest.ts';
import { measureDockershim } from './dockershim.ts';
import { measureKubelets } from './kubelets.ts';
import { leaveNothing } from './leave-nothing.ts';
import { measureLifeCycle } from './life-cycle.ts';
import { measureLists } from './lists.ts';
import { measureMemory } from './memory.ts';
import { measureNode } from './node.ts';
import { measureNri } from './nri.ts';
import { measurePull } from './pull.ts';
import { Registry } from './registry.ts';
import { whereTimeGoes } from './research/pod-time.ts';
import { measureServices } from './services.ts';
import {
  loadImage,
  PEER,
  type PodwrightSetup,
  type Side,
  startContainerd,
  startedOrStarting,
  startPodwright,
} from './sides.ts';
import { measureStreams } from './streams.ts';
import { fullTable, noise, type Row, summary, type Table } from './tables.ts';
import { measureWorkloads } from './workloads.ts';

/** Parts that start the daemons they measure and need none of the runtimes shared by the other parts. */
const SELF_CONTAINED_PARTS: Record<string, (bench: Pick<Bench, 'scratch' | 'sides'>) => Promise<Table | string>> = {
  api: measureApi,
  services: measureServices,
  workloads: measureWorkloads,
};
const PARTS: Record<string, (bench: Bench) => Promise<Table | string>> = {
  'life-cycle': measureLifeCycle,
  bursts: measureBursts,
  node: measureNode,
  'pod-time': whereTimeGoes,
  pull: measurePull,
  lists: measureLists,
  nri: measureNri,
  memory: measureMemory,
  commands: measureCommands,
  kubelets: measureKubelets,
  streams: measureStreams,
  crashes: measureCrashes,
  critest: measureCritest,
  dockershim: measureDockershim,
  cluster: measureCluster,
  ...SELF_CONTAINED_PARTS,
};

const hostText = () =>
  `${availableParallelism()} CPUs (load ${loadavg()[0]!.toFixed(1)}), Linux ${release()}, Node.js ${process.version}`;

async function measure(bench: Bench, parts: string[]): Promise<void> {
  const { runtimeName, runtimeVersion } = await bench.containerd.cri.runtime.version({});
  const runc = (await runChecked(PEER.runc, ['--version'])).split(/\s+/)[2];
  const peer = `${runtimeName} ${runtimeVersion}, runc ${runc}`;
  console.log(`${hostText()}\ncontainerd: ${peer}, CNI bridge with ipMasq, portmap`);
  console.log(`Podwright by default: ${await ociRuntimeOf(bench.podwright)}, its default network\n`);
  const rows: Row[] = [];
  for (const part of parts) {
    const result = await PARTS[part]!(bench);
    console.log(typeof result === 'string' ? result : fullTable(result));
    if (typeof result !== 'string') rows.push(...result.rows);
  }
  if (rows.length > 0) console.log(`### In short\n\n${summary(rows, peer)}\n${noise(rows)}`);
  console.log(`Load at the end: ${loadavg()[0]!.toFixed(1)}.`);
}

/** Returns the name and version of the default handler's OCI runtime, from the runtime's verbose status. */
async function ociRuntimeOf({ cri }: Side): Promise<string> {
  const { info } = await cri.runtime.status({ verbose: true });
  const { host } = JSON.parse(info.config!) as {
    host: { ociRuntimes: { name: string; version: string; works: boolean }[] };
  };
  const { name, version } = host.ociRuntimes.find(({ works }) => works)!;
  return `${name} ${version}`;
}

const wanted = process.argv.slice(2);
const unknown = wanted.find((part) => PARTS[part] === undefined);
if (unknown !== undefined) throw new Error(`no part ${unknown}; the parts are ${Object.keys(PARTS).join(', ')}`);
const scratch = mkdtempSync(join(tmpdir(), 'podwright-bench-'));
process.env.TMPDIR = scratch; // temporary files of other modules are removed with `scratch`, also after a signal
const registry = new Registry(join(scratch, 'registry'));
const sides: Bench['sides'] = [];
const started = (side: Promise<Side>) => {
  sides.push(startedOrStarting(side));
  return side;
};
let ending: Promise<void> | undefined;
const end = () => {
  ending ??= endAll();
  return ending;
};
const endAll = async () => {
  const stopped = new Set<Bench['sides'][number]>();
  const next = () => sides.findLast((side) => !stopped.has(side)); // measurements continue meanwhile and may start further sides
  for (let side = next(); side !== undefined; side = next()) {
    stopped.add(side);
    await side.stop();
  }
  registry.stop();
  await leaveNothing(scratch);
};
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void end().finally(() => process.exit(1)));
/** Measures a part of `SELF_CONTAINED_PARTS`, without starting the shared runtimes. */
async function measureSelfContained(part: string): Promise<void> {
  console.log(hostText());
  const result = await SELF_CONTAINED_PARTS[part]!({ scratch, sides });
  console.log(typeof result === 'string' ? result : fullTable(result));
  console.log(`Load at the end: ${loadavg()[0]!.toFixed(1)}.`);
}

async function measureWithRuntimes(): Promise<void> {
  const containerd = await started(startContainerd(scratch));
  const runtime = (setup: Omit<PodwrightSetup, 'command'>) =>
    started(startPodwright(scratch, { ...setup, command: 'runtime' }));
  const podwright = await runtime({ name: 'pw', setup: 'default', index: 1 });
  const matched = await runtime({ name: 'pw-matched', setup: 'matched', index: 2 });
  const unready = await runtime({ name: 'pw-unready', setup: 'default', index: 9, settings: 'ready_sandboxes = 0' });
  for (const side of [podwright, matched, unready]) await loadImage(side);
  await measure(
    { scratch, containerd, podwright, matched, unready, registry, sides },
    wanted.length > 0
      ? wanted
      : Object.keys(PARTS).filter(
          (part) => !['critest', 'dockershim', 'cluster', ...Object.keys(SELF_CONTAINED_PARTS)].includes(part),
        ),
  );
}

try {
  const [first = ''] = wanted;
  await (wanted.length === 1 && first in SELF_CONTAINED_PARTS ? measureSelfContained(first) : measureWithRuntimes());
} finally {
  await end();
}
