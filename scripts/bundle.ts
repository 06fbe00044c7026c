/** The options for bundling the `podwright` command and the worker that unpacks layers with esbuild. */
import { readFileSync } from 'node:fs';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { buildFacts } from './build-facts.ts';
import { bundleImports } from './bundle-imports.ts';
import { type BuiltPage, buildPage, embedPage } from './dashboard-page.ts';

const SHARED: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  // Reduces source size, because a running daemon keeps its sources in memory. Names are not minified, for readable stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcesContent: false,
  define: buildFacts(),
  logLevel: 'warning',
};

/** A gRPC package needed only for debugging services, which Podwright does not use. It is left out of the bundle. */
const UNUSED = '@grpc/proto-loader';

export type BundleOptions = Pick<BuildOptions, 'banner' | 'plugins' | 'sourcemap'> & {
  outdir: string;
  entry: string;
  /** Imports that are resolved at run time. */
  external: string[];
};

/**
 * Writes `podwright.js` with its chunks, one of which contains the dashboard page, and `unpack-worker.cjs`. Returns the command's esbuild
 * metafile, and the page.
 */
export async function bundle({
  outdir,
  entry,
  external,
  banner,
  plugins = [],
  sourcemap,
}: BundleOptions): Promise<{ metafile: Metafile; page: BuiltPage }> {
  const page = await buildPage();
  const shared = { ...SHARED, outdir, external: [...external, UNUSED], sourcemap };
  const { metafile } = await build({
    ...shared,
    entryPoints: { podwright: entry },
    plugins: [...plugins, embedPage(page), bundleImports(process.cwd())],
    splitting: true,
    chunkNames: 'chunk-[hash]',
    banner,
    metafile: true,
  });
  // Built separately: chunks shared with the command would also load the logger, the metrics and FFI, doubling the worker's startup time.
  // CommonJS, because a worker whose code is passed as text is run as CommonJS.
  await build({
    ...shared,
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    entryPoints: { 'unpack-worker': 'packages/images/src/unpack/unpack-worker.ts' },
  });
  for (const file of Object.keys(metafile.outputs)) if (file.endsWith('.js')) refuseWide(file);
  return { metafile, page };
}

/**
 * Rejects characters outside Latin-1: a single one makes V8 store the whole source in two bytes per character. esbuild escapes them in
 * strings, but not in regular expressions.
 */
function refuseWide(file: string): void {
  const at = readFileSync(file, 'utf8').match(/.{0,60}[^\0-\xff]/)?.[0];
  if (at !== undefined)
    throw new Error(`${file} would take twice the memory: write the last character as \\u….: ${at}`);
}
