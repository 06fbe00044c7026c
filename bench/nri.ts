/** Measures what NRI adds to the start of a pod: disabled, without plugins, and with one and two plugins, each in its own process. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type PluginHandlers, type RunningPlugin, runPlugin } from '@podwright/nri';
import type { Bench } from './bench.ts';
import { bringUp, takeDown } from './life-cycle.ts';
import { cpuTimeMs } from './processes.ts';
import { loadImage, type Side, startedOrStarting, startPodwright } from './sides.ts';
import { median, type Row, type Table } from './tables.ts';
import { inTurns } from './turns.ts';

const ROUNDS = 25;
/** Pause between pods, in which the runtime prepares sandboxes for the next ones. */
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
  const cpuBefore = plugins.map(({ pid }) => cpuTimeMs(pid!));
  const samples = await inTurns(
    { rounds: ROUNDS, settleMs: SETTLE_MS },
    {
      off: () => timeOfPod(off),
      none: () => timeOfPod(podwright),
      one: () => withPlugins(podwright, plugins.slice(0, 1), () => timeOfPod(podwright)),
      two: () => withPlugins(podwright, plugins, () => timeOfPod(podwright)),
    },
  );
  const pods = [2 * (ROUNDS + 1), ROUNDS + 1]; // the first plugin is connected in two of the turns
  const cpu = plugins.map(({ pid }, index) => (cpuTimeMs(pid!) - cpuBefore[index]!) / pods[index]!);
  for (const plugin of plugins) plugin.kill();
  return tableOf(samples, cpu);
}

function tableOf(samples: Record<'off' | 'none' | 'one' | 'two', number[]>, cpuMs: number[]): Table {
  const row = (what: string, podwright: number[]): Row => ({ what, podwright });
  const addedMs = (without: number[], times: number[], plugins = 1) =>
    times.map((ms, index) => (ms - without[index]!) / plugins);
  const goals = { podwright: { limit: 2 } };
  const own = cpuMs.map((ms) => `${ms.toFixed(1)} ms`).join(' and ');
  return {
    title: `NRI, ${ROUNDS} times`,
    rows: [
      row(`${START}, NRI off`, samples.off),
      row(`${START}, no plugin`, samples.none),
      row(`${START}, one plugin`, samples.one),
      row(`${START}, two plugins`, samples.two),
      { ...row('one plugin costs more', addedMs(samples.none, samples.one)), goals, inShort: false },
      { ...row('each of two plugins costs more', addedMs(samples.none, samples.two, 2)), goals, inShort: false },
    ],
    below:
      `\nA plugin receives all events and changes nothing. Its CPU time for a pod's whole life, connecting included: ${own}. ` +
      `Without plugins, NRI costs ${(median(samples.none) - median(samples.off)).toFixed(2)} ms (medians).\n`,
  };
}

/** Starts and removes a pod. Returns the time of its start in milliseconds. */
async function timeOfPod(side: Side): Promise<number> {
  const { pod, times } = await bringUp(side);
  await takeDown(side, pod);
  return times.up;
}

async function withPlugins<T>(
  { directory }: Side,
  plugins: readonly ChildProcess[],
  work: () => Promise<T>,
): Promise<T> {
  const socket = join(directory, 'run/nri/nri.sock');
  for (const plugin of plugins) await reconnect(plugin, socket);
  try {
    return await work();
  } finally {
    for (const plugin of plugins) await reconnect(plugin, '');
  }
}

/** Makes a plugin process connect to the socket, or disconnect if it is ''. Resolves when the process has done so. */
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

/** Connects a plugin that receives all events and changes nothing. Resolves when it has been synchronized. */
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
