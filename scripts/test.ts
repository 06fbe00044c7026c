/**
 * Runs the test files with Node's test runner and ends with one line `N passed, N failed`.
 *   node scripts/test.ts          all: units at once, then the suites on real parts in two lanes
 *   node scripts/test.ts unit     units only
 *   node scripts/test.ts PATH…    the files at these paths, one after the other
 */
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

type Totals = { passed: number; failed: number };
type Lane = { files: string[]; concurrency: number };

/**
 * A hang must take neither the whole run with it, nor CI's time. A test ends after this long, and a file when its last test has, also
 * if a failed one has left something open; what nothing else ends (somebody has inherited a file's output) ends with its lane.
 */
const TEST_TIMEOUT_MS = 5 * 60_000;
const LANE_TIMEOUT_MS = 35 * 60_000;

async function runLane({ files, concurrency }: Lane): Promise<Totals> {
  const totals = { passed: 0, failed: 0 };
  if (files.length === 0) return totals;
  const execArgv = ['--test-force-exit', `--test-timeout=${TEST_TIMEOUT_MS}`];
  const stream = run({ files: files.sort(), concurrency, execArgv, signal: AbortSignal.timeout(LANE_TIMEOUT_MS) });
  stream.on('test:summary', (summary) => {
    if (summary.file !== undefined) return;
    totals.passed = summary.counts.passed;
    totals.failed = summary.counts.tests - summary.counts.passed;
  });
  const report = stream.compose(new spec());
  for await (const chunk of report) process.stdout.write(chunk);
  return totals;
}

/** Tests outside of the packages that need no root. */
const UNITS_OUTSIDE = ['tests/tidy/*.test.ts', 'tests/cluster/api-server/*.test.ts'];
/**
 * Suites wait more than they compute, so two lanes of them run side by side, in each a file after the other. A directory is
 * in one lane, as its files may share names and subnets; what is not named here is in the other. The lanes take about as long.
 */
const FIRST_LANE = ['cli', 'crash', 'images', 'pods', 'recovery', 'security', 'tasks', 'unpack'].map(
  (name) => `tests/${name}/**/*.test.ts`,
);
const units = () => globSync(['packages/*/src/**/*.test.ts', ...UNITS_OUTSIDE]);
const firstLane = () => globSync(FIRST_LANE);
const secondLane = () => globSync('tests/**/*.test.ts', { exclude: [...UNITS_OUTSIDE, ...FIRST_LANE] });

const [what, ...more] = process.argv.slice(2);
const allUnits: Lane = { files: units(), concurrency: availableParallelism() };
const inOrder = (files: string[]): Lane => ({ files, concurrency: 1 });
/** One after the other, the lanes of each at once. */
const stages: Lane[][] =
  what === undefined
    ? [[allUnits], [inOrder(firstLane()), inOrder(secondLane())]]
    : [[what === 'unit' ? allUnits : inOrder([what, ...more])]];

if (what !== 'unit' && process.getuid?.() !== 0) {
  console.error('the suites on real parts need root; `make unit` runs what does not');
  process.exit(1);
}
/** What the processes of a run share: compiled sources, and one bundle (tests/pods/bundle.fixture.ts), on the same disk. */
const shared = mkdtempSync('/tmp/pwb-');
process.env.NODE_COMPILE_CACHE = join(shared, 'cache');
process.env.PODWRIGHT_TEST_BUNDLE = `${shared}-all`;
const totals = { passed: 0, failed: 0 };
for (const lanes of stages) {
  for (const { passed, failed } of await Promise.all(lanes.map(runLane))) {
    totals.passed += passed;
    totals.failed += failed;
  }
}
console.log(`${totals.passed} passed, ${totals.failed} failed`);
try {
  for (const directory of [shared, `${shared}-all`]) rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
} catch (error) {
  console.error(error); // what a process still writes there says nothing about the tests
}
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);
