import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { build } from 'esbuild';

/** Bundles a program consisting of these lines in the same way as podwright itself, and runs it. */
async function runBundled(t: TestContext, ...lines: string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-stack-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const entry = join(directory, 'fails.ts');
  const stack = new URL('stack.ts', import.meta.url).pathname;
  writeFileSync(entry, [`import { exitWhenUncaught, printStack } from '${stack}';`, ...lines].join('\n'));
  await build({
    entryPoints: [entry],
    outdir: directory,
    absWorkingDir: new URL('../..', import.meta.url).pathname,
    bundle: true,
    minifyWhitespace: true,
    platform: 'node',
    format: 'esm',
    sourcemap: 'linked',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  const { status, stderr } = spawnSync(process.execPath, [join(directory, 'fails.js')], { encoding: 'utf8' });
  return { status, stderr: stderr.replaceAll(directory, '') };
}

test('an uncaught error ends the process and is printed with source positions', async (t) => {
  const { status, stderr } = await runBundled(
    t,
    'exitWhenUncaught();',
    'async function late(): Promise<void> {',
    "  throw new Error('too late');",
    '}',
    'setImmediate(late);',
  );
  assert.match(stderr, /^podwright: too late\nError: too late\n {4}at .*late \(\/fails\.ts:4:9\)\n/);
  assert.equal(status, 1);
});

test('causes also have source positions', async (t) => {
  const { stderr } = await runBundled(
    t,
    'const cause = new Error("disk full");',
    'printStack(new Error("no pod", { cause }));',
  );
  assert.match(
    stderr,
    /^Error: no pod\n[\s\S]* \/fails\.ts:3:12[\s\S]*cause\]: Error: disk full\n[\s\S]*\/fails\.ts:2:15/,
  );
});
