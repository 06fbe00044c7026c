/**
 * Runs the test files with Node's test runner and ends with one line `N passed, N failed`.
 *   node scripts/test.ts          all: units at once, then the suites on real parts in two lanes
 *   node scripts/test.ts unit     units only
 *   node scripts/test.ts PATH…    the files at these paths, one after the other
 */
import { once } from 'node:events';
import { chmodSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';

type Lane = { files: string[]; concurrency: number; mayRepeat?: boolean };

/** A hang must take neither the whole run with it, nor CI's time: a test ends after this long, and a file in any case. */
const TEST_TIMEOUT_MS = 3 * 60_000;
const FILE_TIMEOUT_MS = 5 * 60_000;

const totals = { passed: 0, failed: 0 };
/** What is shown of all files, each as a whole. */
const shown = new PassThrough({ objectMode: true });

/** Files of a lane that failed beside the other lane, with what failed: they are run once more, alone. */
const toRepeat = new Map<string, string[]>();

/** A run of its own for each file, as only a run can be ended: a process that does not exit is no test that could time out. */
async function runFile(file: string, mayRepeat = false): Promise<void> {
  const signal = AbortSignal.timeout(FILE_TIMEOUT_MS);
  const events: TestEvent[] = [];
  for await (const event of run({ files: [file], execArgv: [`--test-timeout=${TEST_TIMEOUT_MS}`], signal }))
    events.push(event as TestEvent);
  const failures = events.flatMap(({ type, data }) => (type === 'test:fail' ? [`${data.name}: ${causeOf(data)}`] : []));
  if (mayRepeat && failures.length > 0) {
    toRepeat.set(file, failures);
    return;
  }
  for (const event of events) {
    if (event.type === 'test:summary') {
      if (event.data.file !== undefined) continue;
      totals.passed += event.data.counts.passed;
      totals.failed += event.data.counts.tests - event.data.counts.passed;
    } else if (event.type !== 'test:diagnostic' || event.data.nesting > 0) shown.write(event);
  }
}

function causeOf({ details: { error } }: { details: { error: Error } }): string {
  const { message } = (error.cause as Error | undefined) ?? error;
  return message ?? String(error.cause);
}

async function runLane({ files, concurrency, mayRepeat }: Lane): Promise<void> {
  const waiting = files.sort();
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await runFile(file, mayRepeat);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

/** Tests outside of the packages that need no root. */
const UNITS_OUTSIDE = ['tests/tidy/*.test.ts', 'tests/cluster/api-server/*.test.ts', 'tests/odd-servers/*.test.ts'];
/**
 * Suites wait more than they compute, so two lanes of them run side by side, in each a file after the other. A directory is
 * in one lane, as its files may share names and subnets; what is not named here is in the other. The lanes take about as long.
 */
const FIRST_LANE = ['cli', 'crash', 'images', 'pods', 'recovery', 'security'].map(
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
    ? [[allUnits], [firstLane(), secondLane()].map((files) => ({ ...inOrder(files), mayRepeat: true }))]
    : [[what === 'unit' ? allUnits : inOrder([what, ...more])]];

if (what !== 'unit' && process.getuid?.() !== 0) {
  console.error('the suites on real parts need root; `make unit` runs what does not');
  process.exit(1);
}
/** What the processes of a run share: compiled sources, and one bundle (tests/pods/bundle.fixture.ts), on the same disk. */
const shared = mkdtempSync('/tmp/pwb-');
chmodSync(shared, 0o711); // other users run the bundle, and put nothing next to it
process.env.NODE_COMPILE_CACHE = join(shared, 'cache');
process.env.PODWRIGHT_TEST_BUNDLE = join(shared, 'bundle');
const report = shown.compose(new spec()).pipe(process.stdout, { end: false });
for (const lanes of stages) await Promise.all(lanes.map(runLane));
for (const file of toRepeat.keys()) await runFile(file);
shown.end();
await once(report, 'unpipe');
for (const [file, failures] of toRepeat)
  console.log([`${file} failed beside other files and was run again alone:`, ...failures].join('\n  '));
console.log(`${totals.passed} passed, ${totals.failed} failed`);
try {
  rmSync(shared, { recursive: true, force: true, maxRetries: 3 });
} catch (error) {
  console.error(error); // what a process still writes there says nothing about the tests
}
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);
