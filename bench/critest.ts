import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { removeIfEmpty, runChecked } from '@podwright/host';
import type { Bench } from './bench.ts';
import { cgroupTrees } from './leave-nothing.ts';
import { IMAGE, type Side } from './sides.ts';
import type { Row, Table } from './tables.ts';
import { inTurns } from './turns.ts';

const CRITEST = process.env.PODWRIGHT_BENCH_CRITEST;
/**
 * critest runs by name. `samples` is the number of pods, and the number of containers in separate pods; `atOnce` is how many are created at
 * once.
 */
const RUNS = { 'one by one': { samples: 10, atOnce: 1 }, 'ten at once': { samples: 30, atOnce: 10 } };
const ROUNDS = 3;
const SETTLE_MS = 1000;

type Run = (typeof RUNS)[keyof typeof RUNS];
/** Durations of the operations in one critest run in ms, by operation name. */
type Operations = Record<string, number[]>;
/** The output file of a critest benchmark. */
type Written = { operationsNames: string[]; datapoints: { operationsDurationsNs: number[] }[] };

/** Runs critest's own pod and container benchmarks (`-benchmark`) on both sides. */
export async function measureCritest(bench: Bench): Promise<Table> {
  if (CRITEST === undefined)
    throw new PodwrightError(
      'failed_precondition',
      'the part critest needs the program critest: set PODWRIGHT_BENCH_CRITEST',
    );
  // cgroups that do not exist yet but might be created by critest, which puts pods into them if the runtime does not report its cgroup
  // driver, as containerd 1.6 does not
  const slices = cgroupTrees().map((tree) => join(tree, 'system.slice'));
  const made = slices.filter((slice) => !existsSync(slice));
  try {
    return { title: "critest's benchmarks", rows: await rowsOf(CRITEST, bench) };
  } finally {
    for (const slice of made) await removeIfEmpty(slice).catch(() => undefined); // a failed critest may have left pods behind
  }
}

async function rowsOf(critest: string, { scratch, containerd, podwright }: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, run] of Object.entries(RUNS)) {
    const turn = (side: Side) => () => operations(critest, { side, run, directory: join(scratch, 'critest') });
    const samples = await inTurns(
      { rounds: ROUNDS, settleMs: SETTLE_MS },
      { containerd: turn(containerd), podwright: turn(podwright) },
    );
    const all = (side: keyof typeof samples, what: string) => samples[side].flatMap((one) => one[what]!);
    for (const what of Object.keys(samples.podwright[0]!))
      rows.push({
        what: `${what}, ${name}`,
        containerd: all('containerd', what),
        podwright: all('podwright', what),
        goals: { podwright: { ratio: 0.8 } },
        inShort: false,
      });
  }
  return rows;
}

async function operations(
  critest: string,
  { side, run, directory }: { side: Side; run: Run; directory: string },
): Promise<Operations> {
  mkdirSync(directory, { recursive: true });
  const [parameters, images] = [join(directory, 'parameters.yaml'), join(directory, 'images.yaml')];
  const { samples, atOnce } = run;
  const counts = { podsNumber: samples, podsNumberParallel: atOnce };
  const ofContainers = { containersNumber: samples, containersNumberParallel: atOnce };
  writeFileSync(parameters, JSON.stringify({ ...counts, ...ofContainers })); // JSON is valid YAML
  writeFileSync(images, JSON.stringify({ defaultTestContainerImage: IMAGE }));
  const endpoint = `unix://${side.socket}`;
  await runChecked(critest, [
    ...['-benchmark', '-runtime-endpoint', endpoint, '-image-endpoint', endpoint, '-ginkgo.no-color'],
    ...['-benchmarking-params-file', parameters, '-benchmarking-output-dir', directory, '-test-images-file', images],
  ]);
  const written = ['pod', 'container'].map(
    (kind) => JSON.parse(readFileSync(join(directory, `${kind}_benchmark_data.json`), 'utf8')) as Written,
  );
  return Object.fromEntries(
    written.flatMap(({ operationsNames, datapoints }) =>
      operationsNames.map((name, index) => [
        name,
        datapoints.map(({ operationsDurationsNs }) => operationsDurationsNs[index]! / 1e6),
      ]),
    ),
  );
}
