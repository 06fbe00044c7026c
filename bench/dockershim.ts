/**
 * Compares the dockershim with cri-dockerd (`PODWRIGHT_BENCH_CRI_DOCKERD` is the path of its binary), each on its own Docker Engine with
 * the same CNI configuration, alternating between them. Another column shows the times of the Engine alone for the same containers.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Limiter } from '@podwright/base';
import { connectEngine, type Engine } from '../packages/dockershim/src/engine/engine.ts';
import { type DockerEngine, startDockerEngine } from '../tests/dockershim/docker-engine.fixture.ts';
import type { Bench } from './bench.ts';
import { burst } from './bursts.ts';
import { bringUp, type RunningPod, sleeper, takeDown } from './life-cycle.ts';
import { memoryOf } from './processes.ts';
import { connected, IMAGE, PAUSE_IMAGE, type Side, startDaemon, startedOrStarting, writeNetworkList } from './sides.ts';
import { digits, markdown, median, quantile } from './tables.ts';
import { inTurns } from './turns.ts';

const PEER = process.env.PODWRIGHT_BENCH_CRI_DOCKERD;
const CYCLES = 15;
const BURSTS = 10;
const PODS_AT_ONCE = 10;
const LISTS = 25;
const LISTED_PODS = 4;
const LISTED_CONTAINERS = 200;
const MEMORY_PODS = 50;
const SETTLE_MS = 300;

/** The measured dockershims. `engine` is the Docker Engine behind `ours`; it is also measured without a dockershim. */
type Places = { ours: Side; peer: Side | undefined; engine: Engine };
type Samples = { ours: number[]; peer?: number[]; engine?: number[] };
type Line = Samples & { what: string; unit?: string; goal: string };

/** Returns the table. The cri-dockerd column is empty if its binary is not set. */
export async function measureDockershim(bench: Bench): Promise<string> {
  const { sides } = bench;
  const before = sides.length;
  const started = async <T extends Pick<Side, 'stop'>>(side: Promise<T>): Promise<T> => {
    sides.push(startedOrStarting(side));
    return await side;
  };
  const start = async (name: 'ours' | 'peer', index: number) => {
    const docker = await started(startDockerEngine({ detached: true }));
    return { docker, side: await started(startSide(docker, { name, index, scratch: bench.scratch })) };
  };
  try {
    const ours = await start('ours', 11);
    const peer = PEER === undefined ? undefined : await start('peer', 12);
    const engine = await connectEngine(ours.docker.socket);
    const places = { ours: ours.side, peer: peer?.side, engine };
    const lines: Line[] = [];
    for (const measure of [cycles, bursts, lists, memory]) lines.push(...(await measure(places)));
    engine.close();
    return table(lines);
  } finally {
    for (const side of sides.slice(before).reverse()) await side.stop();
  }
}

/** Builds the sandbox image on a Docker Engine and starts a dockershim that uses this Engine. */
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

/**
 * Builds a sandbox image from the image of the benchmark pods. Its stop signal is SIGKILL because `sleep` ignores SIGTERM when running as
 * process 1, and cri-dockerd would wait ten seconds before killing each sandbox.
 */
async function makeSandboxImage(socket: string): Promise<void> {
  const engine = await connectEngine(socket);
  const container = await engine.containers.create('pause', { Image: IMAGE, Labels: {}, HostConfig: {} });
  const [repo, tag] = PAUSE_IMAGE.split(/:(?=[^:]*$)/);
  const body = { Cmd: ['sleep', '1000000000'], StopSignal: 'SIGKILL' };
  await engine.http.done({ what: 'commit', method: 'POST', path: '/commit', query: { container, repo, tag }, body });
  await engine.containers.remove(container);
  engine.close();
}

/** Measures each available dockershim and the Engine alone, alternating between them. */
async function inTurnsOf<T>(
  { ours, peer, engine }: Places,
  rounds: number,
  measure: { dockershim: (side: Side) => Promise<T>; engine?: (engine: Engine) => Promise<T> },
): Promise<{ ours: T[]; peer?: T[]; engine?: T[] }> {
  const turns = {
    ours: () => measure.dockershim(ours),
    ...(peer && { peer: () => measure.dockershim(peer) }),
    ...(measure.engine && { engine: () => measure.engine!(engine) }),
  };
  return await inTurns<'ours' | 'peer' | 'engine', T>(
    { rounds, settleMs: SETTLE_MS },
    turns as Record<'ours' | 'peer' | 'engine', () => Promise<T>>,
  );
}

const STEPS = {
  up: 'RunPodSandbox + CreateContainer + StartContainer',
  sandbox: 'RunPodSandbox',
  create: 'CreateContainer',
  start: 'StartContainer',
  down: 'stop and remove the container and the sandbox',
};
type Steps = Record<keyof typeof STEPS, number>;

async function cycles(places: Places): Promise<Line[]> {
  const samples = await inTurnsOf<Steps>(places, CYCLES, {
    dockershim: async (side) => {
      const { pod, times } = await bringUp(side);
      return { ...times, down: (await takeDown(side, pod)).down };
    },
    engine: async (engine) => {
      const { ids, times } = await bareUp(engine);
      return { ...times, down: await bareDown(engine, ids) };
    },
  });
  return Object.entries(STEPS).map(([step, what]) => {
    const of = (all: Steps[] | undefined) => all?.map((times) => times[step as keyof Steps]);
    const goal = step === 'up' ? '≤ 0.9×' : '';
    return { what, ours: of(samples.ours)!, peer: of(samples.peer), engine: of(samples.engine), goal };
  });
}

let bare = 0;

/** Creates and starts a pod's two containers directly on the Engine, without a network. */
async function bareUp({ containers }: Engine): Promise<{ ids: string[]; times: Omit<Steps, 'down'> }> {
  const name = `bare-${bare++}`;
  const begin = performance.now();
  const sandbox = await containers.create(name, {
    Image: PAUSE_IMAGE,
    Labels: {},
    HostConfig: { NetworkMode: 'none', IpcMode: 'shareable' },
  });
  await containers.start(sandbox);
  const sandboxed = performance.now();
  const HostConfig = { NetworkMode: `container:${sandbox}`, IpcMode: `container:${sandbox}` };
  const id = await containers.create(`${name}-c`, { Image: IMAGE, Cmd: ['sleep', '3600'], Labels: {}, HostConfig });
  const created = performance.now();
  await containers.start(id);
  const end = performance.now();
  const times = { up: end - begin, sandbox: sandboxed - begin, create: created - sandboxed, start: end - created };
  return { ids: [id, sandbox], times };
}

async function bareDown({ containers }: Engine, ids: string[]): Promise<number> {
  const begin = performance.now();
  for (const id of ids) await containers.remove(id);
  return performance.now() - begin;
}

async function bursts(places: Places): Promise<Line[]> {
  const samples = await inTurnsOf<number[]>(places, BURSTS, {
    dockershim: async (side) => (await burst(side, PODS_AT_ONCE)).each,
    engine: async (engine) => {
      const pods = await Promise.all(Array.from({ length: PODS_AT_ONCE }, () => bareUp(engine)));
      await Promise.all(pods.map(({ ids }) => bareDown(engine, ids)));
      return pods.map(({ times }) => times.up);
    },
  });
  const { ours, peer, engine } = samples;
  const all = { ours: ours.flat(), peer: peer?.flat(), engine: engine?.flat() };
  return [{ what: 'ten at once, each pod up', ...all, goal: '≤ 0.9×' }];
}

async function lists(places: Places): Promise<Line[]> {
  const there = [places.ours, places.peer].filter((side) => side !== undefined);
  const pods = await Promise.all(there.map(fill));
  const timed = async (count: () => Promise<number>) => {
    const begin = performance.now();
    const found = await count();
    if (found !== LISTED_CONTAINERS) throw new Error(`a list of ${found} containers`);
    return performance.now() - begin;
  };
  const samples = await inTurnsOf(places, LISTS, {
    dockershim: ({ cri }) => timed(async () => (await cri.runtime.listContainers({})).containers.length),
    engine: ({ containers }) =>
      timed(async () => (await containers.list({ label: ['io.kubernetes.docker.type=container'] })).length),
  });
  await Promise.all(there.map((side, index) => takeAllDown(side, pods[index]!)));
  return [{ what: `ListContainers of ${LISTED_CONTAINERS}`, ...samples, goal: '≤ 0.8×' }];
}

/** Creates pods with many containers, most of which are not started. */
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

/** Measures the memory of the daemons with fifty pods, after a few list calls. */
async function memory({ ours, peer }: Places): Promise<Line[]> {
  const rssOf = async (side: Side) => {
    const pods: RunningPod[] = [];
    for (let round = 0; round < MEMORY_PODS / PODS_AT_ONCE; round++) {
      const up = await Promise.all(Array.from({ length: PODS_AT_ONCE }, () => bringUp(side)));
      pods.push(...up.map(({ pod }) => pod));
      await side.cri.runtime.listContainers({});
    }
    const { rss } = memoryOf(side.pid);
    await takeAllDown(side, pods);
    return [rss];
  };
  const what = `RSS with ${MEMORY_PODS} pods`;
  const samples = { ours: await rssOf(ours), ...(peer && { peer: await rssOf(peer) }) };
  return [{ what, unit: 'MiB', ...samples, goal: '≤ 130 MiB' }];
}

async function takeAllDown(side: Side, pods: RunningPod[]): Promise<void> {
  const limiter = new Limiter(PODS_AT_ONCE);
  await Promise.all(pods.map((pod) => limiter.run(() => takeDown(side, pod))));
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
