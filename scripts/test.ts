/**
 * Runs the test files with Node's test runner and ends with one line `N passed, N failed`.
 *   node scripts/test.ts          all: units at once, then the suites on real parts, one file after the other
 *   node scripts/test.ts unit     units only
 *   node scripts/test.ts PATH…    the files at these paths
 */
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

type Totals = { passed: number; failed: number };

/** How long one test file may take in all: a hang must not take the whole run with it. */
const FILE_TIMEOUT_MS = 15 * 60_000;

async function runFiles(files: string[], concurrency: number): Promise<Totals> {
  const totals = { passed: 0, failed: 0 };
  if (files.length === 0) return totals;
  const stream = run({ files: files.sort(), concurrency, timeout: FILE_TIMEOUT_MS });
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
const units = () => globSync(['packages/*/src/**/*.test.ts', ...UNITS_OUTSIDE]);
const suites = () => globSync('tests/**/*.test.ts', { exclude: UNITS_OUTSIDE });

const [what, ...more] = process.argv.slice(2);
const groups: [string[], number][] =
  what === undefined
    ? [
        [units(), availableParallelism()],
        [suites(), 1],
      ]
    : what === 'unit'
      ? [[units(), availableParallelism()]]
      : [[[what, ...more], 1]];

if (what !== 'unit' && process.getuid?.() !== 0) {
  console.error('the suites on real parts need root; `make unit` runs what does not');
  process.exit(1);
}
const totals = { passed: 0, failed: 0 };
for (const [files, concurrency] of groups) {
  const { passed, failed } = await runFiles(files, concurrency);
  totals.passed += passed;
  totals.failed += failed;
}
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);
