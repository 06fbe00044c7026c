/** Measures the overhead of NRI on pod starts: disabled, without plugins, and with one and two plugins, each in its own process. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type PluginHandlers, type RunningPlugin, runPlugin } from '@podwright/nri';
import type { Bench } from './bench.ts';
import { bringUp, takeDown } from './life-cycle.ts';
import { exactCpuTimeMs } from './processes.ts';
import { loadImage, type Side, startedOrStarting, startPodwright } from './sides.ts';
import { median, type Row, type Table } from './tables.ts';
import { inTurns } from './turns.ts';

const ROUNDS = 25;
/** Number of pods started back to back. With pauses, the runtime would discard compiled code and have to recompile it for the next pod. */
const SUCCESSIVE = 50;
/** Pause between pods, while the runtime prepares sandboxes for the next ones. */
const SETTLE_MS = 500;
const START = 'RunPodSandbox + CreateContainer + StartContainer';

export async function measureNri({ scratch, podwright, sides }: Bench): Promise<Table> {
  const starting = startPodwright(scratch, {
    ...{ name: 'pw-no-nri', command: 'runtime', setup: 'default', index: 12 },
    settings: '[runtime.nri]\ndisable = true',
  });
  sides.push(startedOrStarting(starting));
  const off = await starting;
  await loadImage(off);
  const plugins = [startPlugin('10'), startPlugin('20')] as const;
  sides.push({ stop: async () => void plugins.map((plugin) => plugin.kill()) });
  const successive = {
    none: await inSuccession(() => costOfPod(podwright, [])),
    one: await withPlugins(podwright, plugins.slice(0, 1), () =>
      inSuccession(() => costOfPod(podwright, plugins.slice(0, 1))),
    ),
  };
  const samples = await inTurns(
    { rounds: ROUNDS, settleMs: SETTLE_MS },
    {
      off: () => costOfPod(off, []),
      none: () => costOfPod(podwright, []),
      one: () => withPlugins(podwright, plugins.slice(0, 1), () => costOfPod(podwright, plugins.slice(0, 1))),
      two: () => withPlugins(podwright, plugins, () => costOfPod(podwright, plugins)),
    },
  );
  for (const plugin of plugins) plugin.kill();
  return tableOf(samples, successive);
}

type Samples = Record<'off' | 'none' | 'one' | 'two', Cost[]>;

function tableOf({ off, none, one, two }: Samples, successive: Record<'none' | 'one', Cost[]>): Table {
  const row = (what: string, podwright: number[]): Row => ({ what, podwright });
  const wall = (costs: Cost[]) => costs.map(({ startMs }) => startMs);
  /** Returns the added cost per plugin and pod, compared with the run without plugins in the same round. */
  const added = (costs: Cost[], of: (cost: Cost) => number, plugins = 1) =>
    costs.map((cost, index) => (of(cost) - of(none[index]!)) / plugins);
  const withoutPlugins = ({ startMs, pluginsMs }: Cost) => startMs - pluginsMs;
  const runtime = ({ runtimeMs }: Cost) => runtimeMs;
  const goals = { podwright: { limit: 2 } };
  const goal = (what: string, podwright: number[]): Row => ({ ...row(what, podwright), goals, inShort: false });
  const own = median(one.map(({ pluginsMs }) => pluginsMs));
  return {
    title: `NRI, ${ROUNDS} times`,
    rows: [
      row(`${START}, NRI off`, wall(off)),
      row(`${START}, no plugin`, wall(none)),
      row(`${START}, one plugin`, wall(one)),
      row(`${START}, two plugins`, wall(two)),
      goal('one plugin costs more, without its own CPU time', added(one, withoutPlugins)),
      goal('each of two plugins costs more, without its own CPU time', added(two, withoutPlugins, 2)),
      goal('CPU time of the runtime that one plugin adds', added(one, runtime)),
      goal('CPU time of the runtime that each of two plugins adds', added(two, runtime, 2)),
      goal(
        `CPU time of the runtime that one plugin adds, ${SUCCESSIVE} pods without a pause`,
        successive.one.map((cost, index) => cost.runtimeMs - successive.none[index]!.runtimeMs),
      ),
    ],
    below:
      `\nA plugin receives all events and changes nothing. Its own CPU time while a pod starts: ${own.toFixed(2)} ms. ` +
      `Without plugins, NRI costs ${(median(wall(none)) - median(wall(off))).toFixed(2)} ms (medians).\n`,
  };
}

/** The cost of starting a pod, in milliseconds: the duration, and the CPU time used by the runtime and the plugins. */
type Cost = { startMs: number; runtimeMs: number; pluginsMs: number };

/** Starts and removes a pod. Returns the cost of the start only. */
async function costOfPod(side: Side, plugins: readonly ChildProcess[]): Promise<Cost> {
  const cpu = () =>
    [exactCpuTimeMs(side.pid), plugins.reduce((sum, { pid }) => sum + exactCpuTimeMs(pid!), 0)] as const;
  const [runtimeBefore, pluginsBefore] = cpu();
  const { pod, times } = await bringUp(side);
  const [runtimeAfter, pluginsAfter] = cpu();
  await takeDown(side, pod);
  return { startMs: times.up, runtimeMs: runtimeAfter - runtimeBefore, pluginsMs: pluginsAfter - pluginsBefore };
}

async function inSuccession(work: () => Promise<Cost>): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (let count = 0; count < SUCCESSIVE; count++) costs.push(await work());
  return costs;
}

async function withPlugins<T>(side: Side, plugins: readonly ChildProcess[], work: () => Promise<T>): Promise<T> {
  for (const plugin of plugins) await reconnect(plugin, socketOf(side));
  try {
    return await work();
  } finally {
    for (const plugin of plugins) await reconnect(plugin, '');
  }
}

const socketOf = ({ directory }: Side) => join(directory, 'run/nri/nri.sock');

/** Makes a plugin process connect to the socket, or disconnect if it is ''. Resolves once that is done. */
async function reconnect(plugin: ChildProcess, socket: string): Promise<void> {
  const done = once(plugin, 'message');
  plugin.send(socket);
  await done;
}

const startPlugin = (index: string): ChildProcess => fork(import.meta.filename, ['plugin', index]);

const EVENTS = [
  ...(['runPodSandbox', 'stopPodSandbox', 'removePodSandbox', 'createContainer', 'postCreateContainer'] as const),
  ...(['startContainer', 'postStartContainer', 'stopContainer', 'removeContainer'] as const),
];

/** Runs in a plugin process: connects a plugin to each socket that the parent process sends. */
function servePlugin(index: string): void {
  let plugin: RunningPlugin | undefined;
  process.on('message', async (socket: string) => {
    plugin?.close();
    await plugin?.closed;
    plugin = undefined;
    if (socket !== '') plugin = await connectPlugin(index, socket);
    process.send!('done');
  });
  process.once('disconnect', () => process.exit());
}

/** Connects a plugin that receives all events and changes nothing. Resolves once it is synchronized. */
async function connectPlugin(index: string, socket: string): Promise<RunningPlugin> {
  const ready = Promise.withResolvers<void>();
  const handlers: PluginHandlers = {
    synchronize: () => {
      ready.resolve();
      return [];
    },
    ...Object.fromEntries(EVENTS.map((event) => [event, () => undefined])),
  };
  const plugin = await runPlugin({ name: 'bench', index, socket, handlers });
  await ready.promise;
  return plugin;
}

if (process.argv[2] === 'plugin' && process.send !== undefined) servePlugin(process.argv[3]!);
