/**
 * Measures the benefit of each fast path of the runtime: `node bench/research/fast-paths.ts [ROUNDS [VARIANT…]]` runs one pod after another
 * on runtimes that each lack one fast path, alternating between them, and prints how much they differ from a runtime with all fast paths in
 * the same round.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, silentLogger } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import { openBuiltins } from '../../packages/runtime/src/builtins.ts';
import { type FastPaths, fastPathsOf } from '../../packages/runtime/src/fast-paths.ts';
import { type OciFastPaths, plainOci } from '../../packages/runtime/src/oci-runtime/oci-fast-paths.ts';
import type { RuntimeOptions } from '../../packages/runtime/src/options.ts';
import { startRuntimeOf } from '../../packages/runtime/src/runtime.ts';
import { leaveNothing } from '../leave-nothing.ts';
import { bringUp, takeDown } from '../life-cycle.ts';
import { BRIDGE, loadImage, type Side } from '../sides.ts';
import { digits, markdown, median } from '../tables.ts';
import { inTurns } from '../turns.ts';

/** Pause between pods, enough time to replenish the ready sandboxes. */
const SETTLE_MS = 400;
const STEPS = ['up', 'exec', 'down'] as const;
type Times = Record<(typeof STEPS)[number], number>;

const all = fastPathsOf({ readySandboxes: 8 });
const withOci = (changes: Partial<OciFastPaths>): FastPaths => ({ ...all, oci: { ...all.oci, ...changes } });
const { seccompFilters, starter, expectedFormat } = plainOci;

/**
 * Runtime variants by name. The first one is the baseline for the others. The different values of `name` in `oci` keep the variants' cached
 * feature checks of the OCI runtime apart.
 */
const VARIANTS: Record<string, FastPaths> = {
  all,
  'without seccomp filters': withOci({ seccompFilters }),
  'without state files and seccomp filters': withOci({ seccompFilters, expectedFormat, name: 'no-files' }),
  'without the move of the daemon': withOci({ starter }),
  "without the daemon's mount namespaces": withOci({
    restrict: (program) => ({ ...program, covered: undefined }),
    name: 'no-namespaces',
  }),
  'without ready sandboxes': { ...all, readySandboxes: 0 },
  'with expedited RCU': { ...all, expediteRcu: true },
  none: fastPathsOf({ fastPaths: false }),
};

if (process.send === undefined) await measure(Number(process.argv[2] ?? 30), process.argv.slice(3));
else await serve(JSON.parse(process.argv[2]!) as { variant: string; options: RuntimeOptions });

/** The child process: serves a runtime of one variant until the parent terminates it. */
async function serve({ variant, options }: { variant: string; options: RuntimeOptions }): Promise<void> {
  const composition = { openParts: openBuiltins, fastPaths: VARIANTS[variant]! };
  const runtime = await startRuntimeOf({ ...options, logger: createLogger({ level: 'warn' }) }, composition);
  process.once('SIGTERM', () => void runtime.close({ removeHostState: true }).finally(() => process.exit()));
  process.send!('ready');
}

async function start(scratch: string, variant: string, index: number): Promise<Side> {
  const directory = join(scratch, String(index));
  for (const name of ['cni', 'certs']) mkdirSync(join(directory, name), { recursive: true });
  const socket = join(directory, 'cri.sock');
  const bridge = `${BRIDGE}${index}`;
  const options = {
    root: join(directory, 'root'),
    state: join('/run', `${bridge}-state`),
    socket,
    cgroupParent: `/${bridge}`,
    network: { confDir: join(directory, 'cni'), binDirs: [], bridge, subnet: `10.${201 + index}.0.0/16` },
    ...{ ociRuntime: '', conmon: 'conmon', registryConfigDir: join(directory, 'certs'), snapshotter: 'auto' },
    streaming: { address: '127.0.0.1', port: 0 },
  };
  const child = fork(import.meta.filename, [JSON.stringify({ variant, options })]);
  await new Promise((resolve, reject) => child.once('message', resolve).once('exit', reject));
  const cri = await connectCri({ runtimeEndpoint: `unix://${socket}`, logger: silentLogger });
  const side = { cri, pid: child.pid!, directory, socket, stop: () => stop(side, child) };
  await loadImage(side);
  return side;
}

async function stop({ cri }: Pick<Side, 'cri'>, child: ChildProcess): Promise<void> {
  const { items } = await cri.runtime.listPodSandbox({});
  for (const { id } of items) await cri.runtime.removePodSandbox({ podSandboxId: id });
  cri.close();
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
}

async function onePod(side: Side): Promise<Times> {
  const { pod, times } = await bringUp(side, { seccomp: true });
  const begin = performance.now();
  await side.cri.runtime.execSync({ containerId: pod.containerId, cmd: ['true'], timeout: 10n });
  const exec = performance.now() - begin;
  return { up: times.up, exec, down: (await takeDown(side, pod)).down };
}

async function measure(rounds: number, wanted: string[]): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'podwright-fast-paths-'));
  const sides: [string, Side][] = [];
  try {
    const names = Object.keys(VARIANTS).filter(
      (name) => wanted.length === 0 || name === 'all' || wanted.includes(name),
    );
    for (const [index, name] of names.entries()) sides.push([name, await start(scratch, name, index)]);
    const turns = Object.fromEntries(sides.map(([name, side]) => [name, () => onePod(side)]));
    console.log(table(await inTurns({ rounds, settleMs: SETTLE_MS }, turns)));
  } finally {
    for (const [, side] of sides) await side.stop();
    await leaveNothing(scratch);
  }
}

/**
 * Returns a table of each variant's median times in ms, with the median difference from the first variant in percent of that variant's
 * median.
 */
function table(samples: Record<string, Times[]>): string {
  const base = samples.all!;
  const rows = Object.entries(samples).map(([name, times]) => [
    name,
    ...STEPS.map((step) => {
      const typical = median(base.map((one) => one[step]));
      const difference = median(times.map((one, round) => one[step] - base[round]![step]));
      const share = `${difference < 0 ? '' : '+'}${((100 * difference) / typical).toFixed(0)} %`;
      return `${digits(median(times.map((one) => one[step])))} (${share})`;
    }),
  ]);
  return markdown([['runtime', ...STEPS], ...rows]);
}
