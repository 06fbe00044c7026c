/** The options with which esbuild bundles the command `podwright` and the worker that unpacks layers. */
import { readFileSync } from 'node:fs';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { buildFacts } from './build-facts.ts';
import { bundleImports } from './bundle-imports.ts';
import { type BuiltPage, buildPage, embedPage } from './dashboard-page.ts';

/** Of both bundles. */
const SHARED: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  // Smaller sources, because a running daemon keeps them in memory. Names are not minified, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcesContent: false,
  define: buildFacts(),
  logLevel: 'warning',
};

/** gRPC needs it only for debugging services, which are not used. */
const UNUSED = '@grpc/proto-loader';

export type BundleOptions = Pick<BuildOptions, 'banner' | 'plugins' | 'sourcemap'> & {
  outdir: string;
  /** The file that starts the command. */
  entry: string;
  /** Imports that are resolved when the program runs. */
  external: string[];
};

/**
 * Writes `podwright.js` with its chunks, one of which contains the page of the dashboard, and `unpack-worker.cjs`. Returns esbuild's
 * description of the command's files, and the page.
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
  // Built separately: chunks shared with the command would load the logger, the metrics and FFI too, and double the worker's start.
  // CommonJS, because a worker that gets its code as text runs it as such.
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
 * Rejects characters beyond Latin-1, with one of which V8 stores a source in two bytes per character. esbuild escapes them in strings,
 * but not in regular expressions.
 */
function refuseWide(file: string): void {
  const at = readFileSync(file, 'utf8').match(/.{0,60}[^\0-\xff]/)?.[0];
  if (at !== undefined)
    throw new Error(`${file} would take twice the memory: write the last character as \\u….: ${at}`);
}
