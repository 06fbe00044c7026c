/** Bundles the command `podwright` and the worker that unpacks layers into `dist/`, or into the directory that is given. */
import { rmSync } from 'node:fs';
import { type BuildOptions, build } from 'esbuild';

const outdir = process.argv[2] ?? 'dist';
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
  // Native parts stay in node_modules; both load from prebuilt files.
  external: ['koffi', 'better-sqlite3'],
  logLevel: 'warning',
};

rmSync(outdir, { recursive: true, force: true });
await build({
  ...shared,
  entryPoints: { podwright: 'packages/cli/src/main.ts' },
  splitting: true,
  chunkNames: 'chunk-[hash]',
  banner: {
    // Bundled CommonJS packages call require.
    js: "import { createRequire as createRequireForBundle } from 'node:module'; const require = createRequireForBundle(import.meta.url);",
  },
});
// By itself: chunks that it shared with the command would bring the logger, the metrics and FFI along, twice its start.
await build({ ...shared, entryPoints: { 'unpack-worker': 'packages/images/src/unpack/unpack-worker.ts' } });
