/** Bundles the command `podwright` and the worker that unpacks layers: `node scripts/build.ts [DIRECTORY]` (default `dist`). */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { PRIVATE_DIRECTORY } from '../packages/base/src/modes.ts';
import { DAEMON_FLAGS } from '../packages/cli/src/daemon/daemon-flags.ts';
import { buildFacts } from './build-facts.ts';
import { bundleImports } from './bundle-imports.ts';

const outdir = process.argv[2] ?? 'dist';
/** Exits with one line on an older Node.js. Uses globalThis, because a bundled file may declare its own `process`. */
const requireNode =
  "if (((v) => v[0] < 22 || (v[0] == 22 && v[1] < 22))(globalThis.process.version.slice(1).split('.').map(Number))) { console.error('podwright: needs Node.js 22.22 or later, found ' + globalThis.process.version); globalThis.process.exit(1); }";
const shared: BuildOptions = {
  outdir,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  // Smaller sources, because a running daemon keeps them in memory. Names are not minified, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: 'linked',
  sourcesContent: false,
  // The two native packages load prebuilt files from node_modules. gRPC needs the third only for debugging services, which are not used.
  external: ['koffi', 'better-sqlite3', '@grpc/proto-loader'],
  define: buildFacts(),
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
    // The version check must run first, because an older Node.js lacks APIs of the bundle. Bundled CommonJS packages need `require`.
    js: `${requireNode} const require = (id) => process.getBuiltinModule(id) ?? process.getBuiltinModule('node:module').createRequire(import.meta.url)(id);`,
  },
  metafile: true,
});
// Built separately: chunks shared with the command would load the logger, the metrics and FFI too, and double the worker's start.
// CommonJS, because a worker that gets its code as text runs it as such.
await build({
  ...shared,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  entryPoints: { 'unpack-worker': 'packages/images/src/unpack/unpack-worker.ts' },
});
for (const file of Object.keys(metafile.outputs)) if (file.endsWith('.js')) refuseWide(file);
// The compile cache is next to the bundle, because write access to it allows to change the code that runs.
mkdirSync(join(outdir, 'cache'), { mode: PRIVATE_DIRECTORY });
if (process.argv[2] === undefined) compile();

/**
 * Rejects characters beyond Latin-1, with one of which V8 stores a source in two bytes per character. esbuild escapes them in strings,
 * but not in regular expressions.
 */
function refuseWide(file: string): void {
  const at = readFileSync(file, 'utf8').match(/.{0,60}[^\0-\xff]/)?.[0];
  if (at !== undefined)
    throw new Error(`${file} would take twice the memory: write the last character as \\u….: ${at}`);
}

/**
 * Fills the compile cache for the user who builds. First runs commands (which find no node), because that compiles more functions than
 * loading alone. Then loads the other entry points, also with the V8 flags of daemons.
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
