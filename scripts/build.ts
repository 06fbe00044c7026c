/** Bundles the command `podwright` and the worker that unpacks layers into `dist/`, or into the directory that is given. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { PRIVATE_DIRECTORY } from '../packages/base/src/modes.ts';
import { DAEMON_FLAGS } from '../packages/cli/src/daemon/daemon-flags.ts';
import { bundleImports } from './bundle-imports.ts';

const outdir = process.argv[2] ?? 'dist';
/** Ends an older Node.js with one line. A file may have a `process` of its own. */
const requireNode =
  "if (((v) => v[0] < 22 || (v[0] == 22 && v[1] < 22))(globalThis.process.version.slice(1).split('.').map(Number))) { console.error('podwright: needs Node.js 22.22 or later, found ' + globalThis.process.version); globalThis.process.exit(1); }";
const shared: BuildOptions = {
  outdir,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  // A running daemon keeps its sources in memory. Names stay, for stacks.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: 'linked',
  sourcesContent: false,
  // Native parts stay in node_modules; both load from prebuilt files. gRPC loads the third for debugging services that nobody serves.
  external: ['koffi', 'better-sqlite3', '@grpc/proto-loader'],
  logLevel: 'warning',
};

rmSync(outdir, { recursive: true, force: true });
const { metafile } = await build({
  ...shared,
  entryPoints: { podwright: 'packages/cli/src/start.ts' },
  plugins: [bundleImports(process.cwd())],
  splitting: true,
  chunkNames: 'chunk-[hash]',
  banner: {
    // First of all, as an older Node.js lacks what the files use. Then: bundled CommonJS packages call require.
    js: `${requireNode} const require = (id) => process.getBuiltinModule(id) ?? process.getBuiltinModule('node:module').createRequire(import.meta.url)(id);`,
  },
  metafile: true,
});
// By itself: chunks that it shared with the command would bring the logger, the metrics and FFI along, twice its start.
await build({ ...shared, entryPoints: { 'unpack-worker': 'packages/images/src/unpack/unpack-worker.ts' } });
for (const file of Object.keys(metafile.outputs)) if (file.endsWith('.js')) refuseWide(file);
// Beside the bundle: who may write there may change what it runs.
mkdirSync(join(outdir, 'cache'), { mode: PRIVATE_DIRECTORY });
if (process.argv[2] === undefined) compile();

/** V8 keeps a source with a single character beyond Latin-1 in two bytes a character. esbuild escapes those in strings, not in patterns. */
function refuseWide(file: string): void {
  const at = readFileSync(file, 'utf8').match(/.{0,60}[^\0-\xff]/)?.[0];
  if (at !== undefined)
    throw new Error(`${file} would take twice its memory: write the last character as \\u….: ${at}`);
}

/**
 * Fills the cache of compiled code for who builds. Calls first, as they compile more than what a file runs when it is loaded: they
 * find no node. Then the parts that are loaded by a call, as V8 compiles for daemons.
 */
function compile(): void {
  const nowhere = ['--state', '/nonexistent'];
  for (const call of [
    ['run', '--dry-run', 'examples/hello.yaml'],
    ['ps'],
    ['logs', 'x'],
    ['exec', 'x', '--', 'true'],
    ['delete', 'x'],
    ['describe', 'x'],
    ['--help'],
  ])
    spawnSync(process.execPath, [join(outdir, 'podwright.js'), ...nowhere, ...call]);
  const parts = Object.entries(metafile.outputs).flatMap(([file, { entryPoint }]) =>
    entryPoint !== undefined && !/\/(?:start|main)\.ts$/.test(entryPoint) ? [resolve(file)] : [],
  );
  const load = `process.getBuiltinModule('node:module').enableCompileCache(${JSON.stringify(resolve(outdir, 'cache'))});
    for (const part of ${JSON.stringify(parts)}) await import(part);`;
  for (const flags of [[], DAEMON_FLAGS])
    spawnSync(process.execPath, [...flags, '--input-type=module', '--eval', load], { stdio: 'inherit' });
}
