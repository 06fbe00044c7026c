/**
 * The dockershim against cri-dockerd, which `PODWRIGHT_BENCH_CRI_DOCKERD` names, each on a Docker Engine of its own with the same CNI
 * configuration, in turns; beside them what the Engine itself takes for the same containers.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { connectEngine, type Engine } from '../packages/dockershim/src/engine/engine.ts';
import { type DockerEngine, startDockerEngine } from '../tests/dockershim/docker-engine.fixture.ts';
import type { Bench } from './bench.ts';
import { burst } from './bursts.ts';
import { bringUp, type RunningPod, sleeper, takeDown } from './life-cycle.ts';
import { memoryOf } from './processes.ts';
import { connected, IMAGE, PAUSE_IMAGE, type Side, startDaemon, writeNetworkList } from './sides.ts';
import { digits, markdown, median, quantile } from './tables.ts';
import { inTurns } from './turns.ts';

const PEER = process.env.PODWRIGHT_BENCH_CRI_DOCKERD;
const CYCLES = 12;
const BURSTS = 6;
const PODS_AT_ONCE = 10;
const LISTS = 25;
const LISTED_PODS = 4;
const LISTED_CONTAINERS = 200;
const MEMORY_PODS = 50;
const SETTLE_MS = 300;

type Places = { ours: Side; peer: Side | undefined; engine: Engine };
type Samples = { ours: number[]; peer?: number[]; engine?: number[] };
type Line = Samples & { what: string; unit?: string; goal: string };

/** The table; without the peer's program, its column is empty. */
export async function measureDockershim({ scratch, sides }: Bench): Promise<string> {
  const engines: DockerEngine[] = [];
  const start = async (name: 'ours' | 'peer', index: number) => {
    const docker = await startDockerEngine();
    engines.push(docker);
    const side = await startSide(docker, { name, index, scratch });
    sides.push(side);
    return side;
  };
  let engine: Engine | undefined;
  try {
    const ours = await start('ours', 11);
    const peer = PEER === undefined ? undefined : await start('peer', 12);
    engine = await connectEngine(engines[0]!.socket);
    const places = { ours, peer, engine };
    const lines = [await cycles(places), await bursts(places), await lists(places), await memory(places)];
    await Promise.all([ours.stop(), peer?.stop()]);
    return table(lines);
  } finally {
    engine?.close();
    for (const docker of engines) await docker.stop();
  }
}

/** A dockershim on its Engine, which has the image of the bench's pods and that of their sandboxes. */
async function startSide(
  docker: DockerEngine,
  { name, index, scratch }: { name: 'ours' | 'peer'; index: number; scratch: string },
): Promise<Side> {
  const directory = join(scratch, `dockershim-${name}`);
  mkdirSync(join(directory, 'cni'), { recursive: true });
  writeNetworkList(directory, index);
  await makeSandboxImage(docker.socket);
  const socket = join(directory, 'cri.sock');
  const common = [
    ...['--docker-endpoint', `unix://${docker.socket}`, '--network-plugin', 'cni', '--cni-bin-dir', '/usr/lib/cni'],
    ...['--cni-conf-dir', join(directory, 'cni'), '--cni-cache-dir', join(directory, 'cache')],
    ...['--pod-infra-container-image', PAUSE_IMAGE],
  ];
  const program = new URL('../bin/podwright', import.meta.url).pathname;
  const places = ['--root', join(directory, 'root'), '--state', join(directory, 'run'), '--log-level', 'warn'];
  const own =
    name === 'ours'
      ? [program, 'dockershim', ...places, '--listen', `unix://${socket}`]
      : [
          PEER!,
          '--container-runtime-endpoint',
          `unix://${socket}`,
          '--cri-dockerd-root-directory',
          join(directory, 'root'),
        ];
  return connected(startDaemon(directory, [...own, ...common]), directory, socket);
}

/** An image whose process only waits, made of the one of the bench's pods. */
async function makeSandboxImage(socket: string): Promise<void> {
  const engine = await connectEngine(socket);
  const container = await engine.containers.create('pause', { Image: IMAGE, Labels: {}, HostConfig: {} });
  const [repo, tag] = PAUSE_IMAGE.split(/:(?=[^:]*$)/);
  const body = { Cmd: ['sleep', '1000000000'] };
  await engine.http.done({ what: 'commit', method: 'POST', path: '/commit', query: { container, repo, tag }, body });
  await engine.containers.remove(container);
  engine.close();
}

/** The same measurement of each side that there is. */
async function inTurnsOf<T>(
  { ours, peer }: Places,
  rounds: number,
  measure: (side: Side) => Promise<T>,
): Promise<{ ours: T[]; peer?: T[] }> {
  const turns = { ours: () => measure(ours), ...(peer && { peer: () => measure(peer) }) };
  return await inTurns<'ours' | 'peer', T>(
    { rounds, settleMs: SETTLE_MS },
    turns as Record<'ours' | 'peer', () => Promise<T>>,
  );
}

async function cycles(places: Places): Promise<Line> {
  const upOf = async (side: Side) => {
    const { pod, times } = await bringUp(side);
    await takeDown(side, pod);
    return times.up;
  };
  const samples = await inTurnsOf(places, CYCLES, upOf);
  const engine: number[] = [];
  for (let round = 0; round <= CYCLES; round++) engine.push(await bareCycle(places.engine, `bare-${round}`));
  return {
    what: 'RunPodSandbox + CreateContainer + StartContainer',
    ...samples,
    engine: engine.slice(1),
    goal: '≤ 0.9×',
  };
}

/** What the Engine takes to create and start a pod's two containers, without a network. */
async function bareCycle({ containers }: Engine, name: string): Promise<number> {
  const begin = performance.now();
  const sandbox = await containers.create(name, {
    Image: PAUSE_IMAGE,
    Labels: {},
    HostConfig: { NetworkMode: 'none' },
  });
  await containers.start(sandbox);
  const HostConfig = { NetworkMode: `container:${sandbox}`, IpcMode: `container:${sandbox}` };
  const id = await containers.create(`${name}-c`, { Image: IMAGE, Cmd: ['sleep', '3600'], Labels: {}, HostConfig });
  await containers.start(id);
  const took = performance.now() - begin;
  for (const one of [id, sandbox]) await containers.remove(one);
  return took;
}

async function bursts(places: Places): Promise<Line> {
  const { ours, peer } = await inTurnsOf(places, BURSTS, async (side) => (await burst(side, PODS_AT_ONCE)).each);
  return { what: 'ten at once, each pod up', ours: ours.flat(), ...(peer && { peer: peer.flat() }), goal: '≤ 0.9×' };
}

async function lists(places: Places): Promise<Line> {
  const there = [places.ours, places.peer].filter((side) => side !== undefined);
  const pods = await Promise.all(there.map(fill));
  const samples = await inTurnsOf(places, LISTS, async ({ cri }) => {
    const begin = performance.now();
    const { containers } = await cri.runtime.listContainers({});
    if (containers.length !== LISTED_CONTAINERS) throw new Error(`a list of ${containers.length} containers`);
    return performance.now() - begin;
  });
  const engine: number[] = [];
  for (let round = 0; round < LISTS; round++) {
    const begin = performance.now();
    await places.engine.containers.list({ label: ['io.kubernetes.docker.type=container'] });
    engine.push(performance.now() - begin);
  }
  for (const [index, side] of there.entries()) for (const pod of pods[index]!) await takeDown(side, pod);
  return { what: `ListContainers of ${LISTED_CONTAINERS}`, ...samples, engine, goal: '≤ 0.8×' };
}

/** Pods with many containers, most of which were created and not started. */
async function fill(side: Side): Promise<RunningPod[]> {
  const pods: RunningPod[] = [];
  for (let pod = 0; pod < LISTED_PODS; pod++) pods.push((await bringUp(side)).pod);
  for (const { sandboxId } of pods) {
    const { status } = await side.cri.runtime.podSandboxStatus({ podSandboxId: sandboxId });
    const sandboxConfig = { metadata: status!.metadata };
    for (let index = 1; index < LISTED_CONTAINERS / LISTED_PODS; index++) {
      const config = { ...sleeper(`idle-${index}`), logPath: '' };
      await side.cri.runtime.createContainer({ podSandboxId: sandboxId, config, sandboxConfig });
    }
  }
  return pods;
}

/** Memory of the daemons with fifty pods, each of which was also asked for by lists and events. */
async function memory({ ours, peer }: Places): Promise<Line> {
  const rssOf = async (side: Side) => {
    const pods: RunningPod[] = [];
    for (let round = 0; round < MEMORY_PODS / PODS_AT_ONCE; round++) {
      const up = await Promise.all(Array.from({ length: PODS_AT_ONCE }, () => bringUp(side)));
      pods.push(...up.map(({ pod }) => pod));
      await side.cri.runtime.listContainers({});
    }
    const { rss } = memoryOf(side.pid);
    for (const pod of pods) await takeDown(side, pod);
    return [rss];
  };
  const what = `RSS with ${MEMORY_PODS} pods`;
  return { what, unit: 'MiB', ours: await rssOf(ours), ...(peer && { peer: await rssOf(peer) }), goal: '≤ 130 MiB' };
}

function table(lines: Line[]): string {
  const shown = (samples: number[] | undefined, unit = 'ms') => {
    if (samples === undefined) return '';
    if (samples.length === 1) return `${digits(samples[0]!)} ${unit}`;
    return `${digits(median(samples))} (${digits(quantile(samples, 0.1))}–${digits(quantile(samples, 0.9))}) ${unit}`;
  };
  const rows = lines.map(({ what, unit, ours, peer, engine, goal }) => [
    ...[what, shown(peer, unit), shown(ours, unit)],
    peer === undefined ? '' : (median(ours) / median(peer)).toFixed(2),
    ...[goal, shown(engine, unit)],
  ]);
  const head = ['what', 'cri-dockerd', 'Podwright', 'ratio', 'goal', 'the Engine alone'];
  return `### Dockershims, each on a Docker Engine of its own\n\n${markdown([head, ...rows])}`;
}
