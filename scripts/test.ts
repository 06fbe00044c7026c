/**
 * Runs the test files with Node's test runner and prints a final line `N passed, N failed`.
 *   node scripts/test.ts          all: unit tests in parallel, then the suites on real components, three at a time
 *   node scripts/test.ts unit     unit tests only
 *   node scripts/test.ts PATH…    these files, one after another
 */
import { once } from 'node:events';
import { chmodSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';

/** Lists of files: up to `concurrency` lists run at the same time, and the files of a list run one after another. */
type Stage = { lists: string[][]; concurrency: number; mayRepeat?: boolean };

/** Timeouts for a test and for a file, so that a hang does not block the whole run. */
const TEST_TIMEOUT_MS = 3 * 60_000;
const FILE_TIMEOUT_MS = 5 * 60_000;

const totals = { passed: 0, failed: 0 };
/** Test events of all files, in file order, as input for the report. */
const shown = new PassThrough({ objectMode: true });

/** Files that failed while other lists were running, with their failures; they are rerun alone. */
const toRepeat = new Map<string, string[]>();

/**
 * Runs one file as a separate run of the test runner, because only a whole run can be aborted: the test timeout does not cover a process
 * that never exits.
 */
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

async function runStage({ lists, concurrency, mayRepeat }: Stage): Promise<void> {
  const waiting = [...lists];
  const work = async () => {
    for (let files = waiting.shift(); files !== undefined; files = waiting.shift())
      for (const file of files) await runFile(file, mayRepeat);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

/** Tests outside the packages that do not need root. */
const UNITS_OUTSIDE = [
  'tests/tidy/*.test.ts',
  'tests/cluster/faults/*.test.ts',
  'tests/odd-servers/*.test.ts',
  'packages/dashboard/page/**/*.test.ts',
];

function unitStage(): Stage {
  const files = globSync(['packages/*/src/**/*.test.ts', ...UNITS_OUTSIDE]).sort();
  return { lists: files.map((file) => [file]), concurrency: availableParallelism(), mayRepeat: true };
}

/**
 * Suites spend more time waiting than computing, so three run at once, the largest first. The files of a directory run one after another,
 * because they may share names and subnets.
 */
function suiteStage(): Stage {
  const files = globSync('tests/**/*.test.ts', { exclude: UNITS_OUTSIDE }).sort();
  const suites = Object.values(Object.groupBy(files, (file) => file.split('/')[1]!)) as string[][];
  return { lists: suites.sort((a, b) => b.length - a.length), concurrency: 3, mayRepeat: true };
}

const [what, ...more] = process.argv.slice(2);
const stages: Stage[] =
  what === undefined
    ? [unitStage(), suiteStage()]
    : [what === 'unit' ? unitStage() : { lists: [[what, ...more]], concurrency: 1 }];

if (what !== 'unit' && process.getuid?.() !== 0) {
  console.error('the suites on real components need root; `make unit` runs the tests that do not');
  process.exit(1);
}
/** Directory shared by all processes of this test run. Contains the compile cache and a single bundle (tests/pods/bundle.fixture.ts). */
const shared = mkdtempSync('/tmp/pwb-');
chmodSync(shared, 0o711); // other users can run the bundle, but not write next to it
process.env.NODE_COMPILE_CACHE = join(shared, 'cache');
process.env.PODWRIGHT_TEST_BUNDLE = join(shared, 'bundle');
const report = shown.compose(new spec()).pipe(process.stdout, { end: false });
for (const stage of stages) await runStage(stage);
for (const file of toRepeat.keys()) await runFile(file);
shown.end();
await once(report, 'unpipe');
for (const [file, failures] of toRepeat)
  console.log([`${file} failed in parallel with other files and was run again alone:`, ...failures].join('\n  '));
console.log(`${totals.passed} passed, ${totals.failed} failed`);
try {
  rmSync(shared, { recursive: true, force: true, maxRetries: 3 });
} catch (error) {
  console.error(error); // not a failure of the tests: a process may still write there
}
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);
