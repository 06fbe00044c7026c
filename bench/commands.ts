import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '@podwright/host';
import { ProcessStarter } from '@podwright/system';
import { NodeClient } from '../packages/cli/src/client/node-client.ts';
import { stopNode } from '../packages/cli/src/daemon/ensure-node.ts';
import type { Bench } from './bench.ts';
import { type BenchNode, startNode } from './manifests.ts';
import { openPodman, type Podman } from './podman.ts';
import { PEER } from './sides.ts';
import { digits, type Goal, markdown, median, quantile } from './tables.ts';
import { inTurns } from './turns.ts';
import { until } from './until.ts';
import { manifest, variedManifests } from './varied-manifests.ts';

/**
 * `rounds`: how often each command is measured. `settleMs`: pause after each measurement. The four constants are for commands that take
 * milliseconds, and for commands that start one pod, many pods or a node.
 */
const CALLS = { rounds: 30, settleMs: 20 };
const PODS = { rounds: 15, settleMs: 500 };
const ALL_VARIED = { rounds: 10, settleMs: 1000 };
const COLD = { rounds: 10, settleMs: 500 };
/** How long `run` follows its pod before its memory is measured. */
const FOLLOWED_MS = 5000;

/** A row of the table. `podman` is unset if Podman has no such command or is not installed. */
type CommandRow = {
  what: string;
  unit?: 'ms' | 'MiB';
  podwright: number[];
  podman?: number[];
  goal: Exclude<Goal, { least: number }>;
};

/**
 * Functions that run a command on each side. A call includes setup and cleanup, but returns only the duration of the command itself, in ms.
 */
type Turns = { podwright: () => Promise<number>; podman?: () => Promise<number> };

/**
 * Compares the `podwright` command with Podman's, both using runc and the same image. The node is already running, except for the cold
 * start.
 */
export async function measureCommands(bench: Bench): Promise<string> {
  const podman = await openPodman(bench.scratch, 11);
  const setup = { name: 'commands', setup: 'default', settings: `oci_runtime = "${PEER.runc}"` } as const;
  const node = await startNode(bench, { ...setup, index: 10 });
  const commands = new Commands(bench.scratch, { node, podman });
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= commands.stop());
  bench.sides.push({ ...node, stop }); // also stopped at a signal
  try {
    const rows = [...(await commands.calls()), ...(await commands.pods()), await commands.memory()];
    await stopNode(node.client, { removeHostState: false, endPods: false });
    rows.push(await commands.cold());
    return table(rows, podman);
  } finally {
    await stop();
    await node.stop();
  }
}

class Commands {
  readonly #scratch: string;
  readonly #node: BenchNode;
  readonly #podman: Podman | undefined;
  readonly #start = new ProcessStarter().start;

  constructor(scratch: string, { node, podman }: { node: BenchNode; podman: Podman | undefined }) {
    this.#scratch = scratch;
    this.#node = node;
    this.#podman = podman;
  }

  /** Measures short-running commands, with one pod on the node. */
  async calls(): Promise<CommandRow[]> {
    const file = this.#file('asked', manifest('asked'));
    await this.#took(this.#podwright('run', '--detach', file));
    if (this.#podman !== undefined) await this.#play(file);
    const rows = [
      await this.#row('`--version`', 50, { podwright: ['--version'], podman: ['--version'] }),
      await this.#row('`ps`', 90, { podwright: ['ps'], podman: ['pod', 'ps'] }),
      await this.#row('`logs`', 110, { podwright: ['logs', 'asked'], podman: ['logs', 'asked-c'] }),
      await this.#row('`exec … true`', 110, {
        podwright: ['exec', 'asked', '--', 'true'],
        podman: ['exec', 'asked-c', 'true'],
      }),
    ];
    await this.#remove('asked');
    if (this.#podman !== undefined) await this.#removeFromPodman('asked');
    return rows;
  }

  /** Measures starting and removing a single pod, and twenty different pods one after another. */
  async pods(): Promise<CommandRow[]> {
    const file = this.#file('one', manifest('one'));
    const removals = { podwright: [] as number[], podman: [] as number[] };
    const one = await this.#inTurns(PODS, {
      podwright: async () => {
        const took = await this.#took(this.#podwright('run', '--detach', file));
        removals.podwright.push(await this.#remove('one'));
        return took;
      },
      podman: async () => {
        const took = await this.#play(file);
        removals.podman.push(await this.#removeFromPodman('one'));
        return took;
      },
    });
    const varied = [...variedManifests()].map(([name, text]) => ({ name, file: this.#file(name, text) }));
    const twenty = await this.#inTurns(ALL_VARIED, {
      podwright: async () => {
        let sum = 0;
        for (const { file } of varied) sum += await this.#took(this.#podwright('run', '--detach', file));
        await this.#remove(...varied.map(({ name }) => name));
        return sum;
      },
      podman: async () => {
        let sum = 0;
        for (const { file } of varied) sum += await this.#play(file);
        await this.#removeFromPodman(...varied.map(({ name }) => name));
        return sum;
      },
    });
    const gone = removals.podman.length === 0 ? { podwright: removals.podwright } : removals;
    return [
      { what: '`run --detach` of a pod, against `podman kube play`', ...one, goal: { ratio: 0.7 } },
      { what: 'twenty varied manifests, a call each', ...twenty, goal: { ratio: 0.7 } },
      { what: '`delete` without grace, against `podman pod rm`', ...gone, goal: { ratio: 0.6 } },
    ];
  }

  /** Measures the memory of a foreground `podwright run` while it follows its pod. */
  async memory(): Promise<CommandRow> {
    const [program, ...args] = this.#podwright('run', this.#file('followed', manifest('followed')));
    const child = spawn(program!, args, { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await until(
      async () => (await this.#node.client.pods()).some(({ status }) => status?.phase === 'Running') || undefined,
    );
    await new Promise((resolve) => setTimeout(resolve, FOLLOWED_MS));
    const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))!;
    child.kill('SIGINT');
    await ended;
    return {
      what: '`run` in front, following (RSS)',
      unit: 'MiB',
      podwright: [Number(kib) / 1024],
      goal: { limit: 70 },
    };
  }

  /** Measures a cold start: the time until a pod runs, including the start of the node. Each round stops the node again. */
  async cold(): Promise<CommandRow> {
    const file = this.#file('cold', manifest('cold'));
    const config = join(this.#node.directory, 'config.toml');
    const command = [this.#podwright()[0]!, '--config', config, 'run', '--detach', file];
    const client = new NodeClient(join(this.#node.directory, 'run/node.sock'));
    const podwright = async () => {
      const took = await this.#took(command);
      await this.#remove('cold');
      await stopNode(client, { removeHostState: false, endPods: false });
      return took;
    };
    return { what: '`run --detach` from cold', ...(await this.#inTurns(COLD, { podwright })), goal: { limit: 800 } };
  }

  async stop(): Promise<void> {
    const command = this.#podman?.command('pod', 'rm', '--all', '--force', '--time', '0');
    if (command !== undefined) await until(async () => (await this.#call(command)).exitCode === 0 || undefined, 100);
  }

  async #row(what: string, limit: number, calls: { podwright: string[]; podman: string[] }): Promise<CommandRow> {
    const samples = await this.#inTurns(CALLS, {
      podwright: () => this.#took(this.#podwright(...calls.podwright)),
      podman: () => this.#took(this.#podman!.command(...calls.podman)),
    });
    return { what, ...samples, goal: { limit } };
  }

  async #inTurns(times: typeof CALLS, { podwright, podman }: Turns): Promise<Pick<CommandRow, 'podwright' | 'podman'>> {
    if (this.#podman === undefined || podman === undefined) return inTurns<'podwright', number>(times, { podwright });
    return inTurns<'podwright' | 'podman', number>(times, { podwright, podman });
  }

  #podwright(...args: string[]): string[] {
    const { directory } = this.#node;
    const program = new URL('../bin/podwright', import.meta.url).pathname;
    return args[0] === '--version'
      ? [program, ...args]
      : [program, '--root', `${directory}/root`, '--state', `${directory}/run`, ...args];
  }

  #remove(...names: string[]): Promise<number> {
    return this.#took(this.#podwright('delete', '--force', ...names));
  }

  #play(file: string): Promise<number> {
    const { command, network } = this.#podman!;
    return this.#took(command('kube', 'play', '--network', network, file));
  }

  /**
   * Removes pods from Podman and returns how long that took. With private mounts, Podman sometimes fails because a mount is busy; failed
   * attempts are repeated and not included in the time.
   */
  async #removeFromPodman(...names: string[]): Promise<number> {
    const command = this.#podman!.command('pod', 'rm', '--force', '--ignore', '--time', '0', ...names);
    const { tookMs, exitCode } = await this.#call(command);
    if (exitCode !== 0) await until(async () => (await this.#call(command)).exitCode === 0 || undefined, 100);
    return tookMs;
  }

  /** Runs a command that must succeed and returns its duration in ms. */
  async #took(command: string[]): Promise<number> {
    const { tookMs, exitCode, stderr } = await this.#call(command);
    if (exitCode !== 0) throw new Error(`${command.join(' ')}: exit code ${exitCode}: ${stderr}`);
    return tookMs;
  }

  async #call(command: string[]): Promise<{ tookMs: number; exitCode: number | null; stderr: string }> {
    const [program, args] = split(command);
    const beginMs = performance.now();
    const { exitCode, stderr } = await runProgram(program, args, { start: this.#start, env: this.#podman?.env });
    return { tookMs: performance.now() - beginMs, exitCode, stderr };
  }

  #file(name: string, text: string): string {
    const path = join(this.#scratch, `${name}.yaml`);
    writeFileSync(path, text);
    return path;
  }
}

const split = ([program, ...args]: string[]): [string, string[]] => [program!, args];

function table(rows: CommandRow[], podman: Podman | undefined): string {
  const peer = podman === undefined ? 'Podman is not installed' : `Podman ${podman.version}`;
  const lines = rows.map((row) => {
    const ratio = row.podman && median(row.podwright) / median(row.podman);
    return [
      row.what,
      range(row.podman, row.unit),
      range(row.podwright, row.unit),
      ratio?.toFixed(2) ?? '',
      verdict(row, ratio),
    ];
  });
  return `### Commands\n\nMedians, 10th to 90th percentile, and the least.\n\n${markdown([['what', peer, 'Podwright', 'ratio', 'goal'], ...lines])}`;
}

function range(samples: number[] | undefined, unit = 'ms'): string {
  if (samples === undefined) return '';
  const [middle, low, high, least] = [
    median(samples),
    quantile(samples, 0.1),
    quantile(samples, 0.9),
    Math.min(...samples),
  ];
  return `${digits(middle)} (${digits(low)}–${digits(high)}; ${digits(least)}) ${unit}`;
}

function verdict({ goal, podwright, unit = 'ms' }: CommandRow, ratio: number | undefined): string {
  const [bound, value] =
    'ratio' in goal
      ? [`${goal.ratio}×`, ratio && ratio - goal.ratio]
      : [`${goal.limit} ${unit}`, median(podwright) - goal.limit];
  return value === undefined ? `≤ ${bound}` : `≤ ${bound} ${value <= 0 ? 'met' : '**missed**'}`;
}
