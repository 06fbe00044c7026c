/**
 * `make bench`: Podwright against Debian's containerd with runc, driven by the same client in the same run, in turns.
 * Prints Markdown; `node bench/main.ts life-cycle memory …` runs only the named parts.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, release, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runChecked } from '@podwright/base';
import { NodeClient } from '../packages/cli/src/client/node-client.ts';
import { waterfall } from '../packages/cli/src/commands/trace.ts';
import { measureAtRest } from './at-rest.ts';
import { makeBigImage } from './big-image.ts';
import { bringUp, burst, type LifeCycle, lifeCycle, type RunningPod, takeDown } from './life-cycle.ts';
import { belongsTo, memoryOf, processIds } from './memory.ts';
import { IMAGE, type RuntimeUnderTest, startContainerd, startPodwright, until } from './runtimes.ts';
import { median, type Row, ratioRow, report } from './statistics.ts';

type Bench = {
  scratch: string;
  containerd: RuntimeUnderTest;
  podwright: RuntimeUnderTest;
  bare: { up: number[]; twenty: number[] };
};

const ROUNDS = 15;
const BURSTS = 5;

async function measureLifeCycle(bench: Bench): Promise<string> {
  const samples = { containerd: [] as LifeCycle[], podwright: [] as LifeCycle[] };
  for (let round = -1; round < ROUNDS; round++) {
    for (const side of ['containerd', 'podwright'] as const) {
      const times = await lifeCycle(bench[side], join(bench.scratch, 'logs'));
      if (round >= 0) samples[side].push(times);
    }
  }
  const pick = (step: keyof LifeCycle) => ({
    podwright: samples.podwright.map((times) => times[step]),
    containerd: samples.containerd.map((times) => times[step]),
  });
  bench.bare.up = pick('up').containerd;
  return report(`One pod after the other, ms: median (90th percentile) of ${ROUNDS}`, [
    ratioRow('RunPodSandbox + CreateContainer + StartContainer', pick('up'), 0.5),
    ratioRow('RunPodSandbox', pick('sandbox'), undefined),
    ratioRow('CreateContainer', pick('create'), undefined),
    ratioRow('StartContainer', pick('start'), undefined),
    ratioRow('ExecSync of true', pick('exec'), 0.7),
    ratioRow('stop + remove, container and sandbox', pick('down'), 0.5),
    ratioRow('StopContainer + RemoveContainer + StopPodSandbox', pick('stop'), undefined),
    ratioRow('RemovePodSandbox', pick('remove'), undefined),
  ]);
}

async function measureBursts(bench: Bench): Promise<string> {
  const samples = {
    containerd: { each: [] as number[], all: [] as number[] },
    podwright: { each: [] as number[], all: [] as number[] },
  };
  for (let round = 0; round < BURSTS; round++) {
    for (const side of ['containerd', 'podwright'] as const) {
      const { each, all } = await burst(bench[side], 10, join(bench.scratch, 'logs'));
      samples[side].each.push(...each);
      samples[side].all.push(all);
    }
    bench.bare.twenty.push((await burst(bench.containerd, 20, join(bench.scratch, 'logs'))).all);
  }
  const pick = (what: 'each' | 'all') => ({ podwright: samples.podwright[what], containerd: samples.containerd[what] });
  return report(`Ten pods at once, ms: median (90th percentile) of ${BURSTS} bursts`, [
    ratioRow('each pod up', pick('each'), 0.4),
    ratioRow('all ten up', pick('all'), undefined),
  ]);
}

async function measureMemory(bench: Bench): Promise<string> {
  const PODS = 20;
  const measure = async (runtime: RuntimeUnderTest) => {
    const before = new Set(processIds());
    const pods: RunningPod[] = [];
    for (let index = 0; index < PODS; index++) pods.push((await bringUp(runtime, join(bench.scratch, 'logs'))).pod);
    const helpers = processIds().filter((pid) => !before.has(pid) && belongsTo(pid, bench.scratch));
    const perPod = helpers.reduce((sum, pid) => sum + memoryOf(pid).pss, 0) / PODS;
    const daemon = memoryOf(runtime.pid);
    await Promise.all(pods.map((pod) => takeDown(runtime, pod)));
    return { perPod, daemon };
  };
  const theirs = await measure(bench.containerd);
  const ours = await measure(bench.podwright);
  const mib = (value: number) => `${value.toFixed(2)} MiB`;
  return report(`Memory with ${PODS} pods of one container`, [
    {
      what: 'PSS of all helper processes, a pod',
      podwright: mib(ours.perPod),
      containerd: mib(theirs.perPod),
      ratio: ours.perPod / theirs.perPod,
      goal: '< 2 MiB',
      met: ours.perPod < 2,
    },
    { what: 'RSS of the runtime daemon', podwright: mib(ours.daemon.rss), containerd: mib(theirs.daemon.rss) },
  ]);
}

async function measurePull(bench: Bench): Promise<string> {
  const layout = join(bench.scratch, 'big');
  await makeBigImage(layout, 'latest');
  const port = 20_000 + (process.pid % 10_000);
  const store = join(bench.scratch, 'registry');
  mkdirSync(store);
  writeFileSync(
    join(store, 'config.yml'),
    `version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: ${store}}}\nhttp: {addr: "127.0.0.1:${port}"}\n`,
  );
  const registry = spawn('docker-registry', ['serve', join(store, 'config.yml')], { stdio: 'ignore' });
  const reference = `127.0.0.1:${port}/bench/big:1`;
  const samples = { containerd: [] as number[], podwright: [] as number[] };
  try {
    await until(async () => (await fetch(`http://127.0.0.1:${port}/v2/`).catch(() => undefined))?.ok || undefined);
    await runChecked('skopeo', [
      'copy',
      '-q',
      '--dest-tls-verify=false',
      `oci:${layout}:latest`,
      `docker://${reference}`,
    ]);
    for (let round = 0; round < 4; round++) {
      for (const side of ['containerd', 'podwright'] as const) {
        const begin = performance.now();
        await bench[side].cri.image.pullImage({ image: { image: reference } });
        if (round > 0) samples[side].push(performance.now() - begin);
        await bench[side].cri.image.removeImage({ image: { image: reference } });
        // Both remove content in the background: it must not run into the next turn.
        await new Promise((resolve) => setTimeout(resolve, 2000));
      }
    }
  } finally {
    registry.kill();
  }
  return report('Pull and unpack of a 300 MB image from a loopback registry, ms', [ratioRow('PullImage', samples, 1)]);
}

async function measureNode(bench: Bench): Promise<string> {
  const node = await startPodwright(bench.scratch, 'node');
  try {
    const atRest = memoryOf(node.pid).rss;
    const single: number[] = [];
    for (let round = -1; round < ROUNDS; round++) {
      const took = await manifestsToRunning(node, 1);
      if (round >= 0) single.push(took);
    }
    const twenty: number[] = [];
    for (let round = 0; round < 3; round++) twenty.push(await manifestsToRunning(node, 20));
    const rows: Row[] = [
      ratioRow(
        'one manifest written → running, against the bare CRI sequence',
        { podwright: single, containerd: bench.bare.up },
        0.75,
      ),
      ratioRow(
        'twenty manifests at once → all running, against twenty bare sequences at once',
        { podwright: twenty, containerd: bench.bare.twenty },
        0.5,
      ),
      {
        what: 'RSS of the node at rest',
        podwright: `${atRest.toFixed(0)} MiB`,
        containerd: '',
        goal: '< 150 MiB',
        met: atRest < 150,
      },
    ];
    return `${report('The whole node (`podwright node`), ms', rows)}\n${await whereTimeGoes(node)}`;
  } finally {
    await node.stop();
  }
}

/** The steps of one more pod, as `podwright trace` has them. */
async function whereTimeGoes(node: RuntimeUnderTest & { directory: string }): Promise<string> {
  const path = join(node.directory, 'root/manifests/traced.yaml');
  writeFileSync(path, manifest('traced'));
  const client = new NodeClient(join(node.directory, 'run/node.sock'));
  const pod = await until(async () => (await client.pods()).find(({ status }) => status?.phase === 'Running'));
  const spans = await client.traces(pod.metadata.uid);
  rmSync(path);
  return ['Where the time of one pod goes:', '', '```', waterfall(spans, 100), '```', ''].join('\n');
}

let manifestCounter = 0;

/** Writes manifests and waits until the runtime says that their containers run; then removes them again. */
async function manifestsToRunning(node: RuntimeUnderTest & { directory: string }, count: number): Promise<number> {
  const group = `g${manifestCounter++}`;
  const paths = Array.from({ length: count }, (_, index) =>
    join(node.directory, 'root/manifests', `${group}-${index}.yaml`),
  );
  const begin = performance.now();
  // Written beside and renamed, as tools write files that others watch.
  for (const [index, path] of paths.entries()) {
    const temporary = join(dirname(path), `.${group}-${index}.tmp`);
    writeFileSync(temporary, manifest(`${group}-${index}`));
    renameSync(temporary, path);
  }
  const running = async () => {
    const { containers } = await node.cri.runtime.listContainers({ filter: { state: { state: 1 } } });
    return containers.length === count ? true : undefined;
  };
  await until(running, 3);
  const took = performance.now() - begin;
  for (const path of paths) rmSync(path);
  await until(async () => ((await node.cri.runtime.listPodSandbox({})).items.length === 0 ? true : undefined), 50);
  return took;
}

function manifest(name: string): string {
  return `apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - { name: c, image: "${IMAGE}", command: [sleep, "3600"] }
`;
}

/** Daemons that were only stopped leave their mounts to their next start; there is none. */
async function unmountBelow(directory: string): Promise<void> {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((point) => point.startsWith(`${directory}/`));
  for (const point of points.reverse()) await runChecked('umount', ['--lazy', point]);
}

/** The runtime of the default handler, as its status tells it to users. */
function nameOfOciRuntime(info: string): string {
  const { host } = JSON.parse(info) as { host?: { ociRuntimes: { name: string; version: string; works: boolean }[] } };
  const chosen = host?.ociRuntimes.find(({ works }) => works);
  return chosen === undefined ? 'runc' : `${chosen.name} ${chosen.version}`;
}

const PARTS = {
  'life-cycle': measureLifeCycle,
  bursts: measureBursts,
  memory: measureMemory,
  pull: measurePull,
  node: measureNode,
  'at-rest': ({ podwright, containerd, scratch }: Bench) => measureAtRest(podwright, containerd, join(scratch, 'logs')),
};

const scratch = mkdtempSync(join(tmpdir(), 'podwright-bench-'));
const wanted = process.argv.slice(2);
const containerd = await startContainerd(scratch);
const podwright = await startPodwright(scratch, 'runtime');
const bench: Bench = { scratch, containerd, podwright, bare: { up: [], twenty: [] } };
const version = await containerd.cri.runtime.version({});
const ours = await podwright.cri.runtime.status({ verbose: true });
console.log(
  `${availableParallelism()} CPUs, Linux ${release()}, Node.js ${process.version}, ${version.runtimeName} ${version.runtimeVersion} with runc; Podwright with ${nameOfOciRuntime(ours.info.config ?? '{}')}\n`,
);
try {
  for (const [name, part] of Object.entries(PARTS)) {
    if (wanted.length === 0 || wanted.includes(name)) console.log(await part(bench));
  }
  if (bench.bare.up.length > 0) console.log(`containerd's bare sequence: ${median(bench.bare.up).toFixed(0)} ms`);
} finally {
  await podwright.stop();
  await containerd.stop();
  for (const link of ['pwbench0', 'pwbench1', 'pwbench2'])
    await runChecked('ip', ['link', 'delete', link]).catch(() => undefined);
  await unmountBelow(scratch);
  rmSync(scratch, { recursive: true, force: true });
}
