/** Bundles the command `podwright` and the worker that unpacks layers into `dist/`, or into the directory that is given. */
import { rmSync } from 'node:fs';
import { build } from 'esbuild';

const outdir = process.argv[2] ?? 'dist';
rmSync(outdir, { recursive: true, force: true });
await build({
  entryPoints: {
    podwright: 'packages/cli/src/main.ts',
    'unpack-worker': 'packages/images/src/unpack/unpack-worker.ts',
  },
  outdir,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  // A running daemon keeps its sources in memory. Names stay, for stacks.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: 'linked',
  sourcesContent: false,
  chunkNames: 'chunk-[hash]',
  // Native parts stay in node_modules; both load from prebuilt files.
  external: ['koffi', 'better-sqlite3'],
  banner: {
    // Bundled CommonJS packages call require.
    js: "import { createRequire as createRequireForBundle } from 'node:module'; const require = createRequireForBundle(import.meta.url);",
  },
  logLevel: 'warning',
});
