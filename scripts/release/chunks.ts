/** The bundle in the form included in the executable: the chunks of the command and the worker, as CommonJS. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Metafile, transform } from 'esbuild';
import { bundle } from '../bundle.ts';
import { nativeLoaders } from './native-parts.ts';

export type Chunks = {
  /** Code by file name; `podwright.js` exports `main`. */
  code: Map<string, string>;
  /** esbuild's metafile for the command and the dashboard page. */
  metafile: Metafile;
};

export async function makeChunks(): Promise<Chunks> {
  const outdir = mkdtempSync(join(tmpdir(), 'podwright-chunks-'));
  try {
    const { metafile, page } = await bundle({
      outdir,
      entry: 'packages/cli/src/main.ts',
      external: ['native:*'],
      plugins: [nativeLoaders],
      // A source map contains paths from `outdir` to the checkout, and affects the hash in its chunk's name.
      sourcemap: false,
    });
    const names = readdirSync(outdir).filter((name) => /\.c?js$/.test(name));
    const pairs = names.sort().map(async (name) => [name, await toCommonJs(join(outdir, name))] as const);
    const outputs = { ...metafile.outputs, ...page.metafile.outputs };
    return { code: new Map(await Promise.all(pairs)), metafile: { ...metafile, outputs } };
  } finally {
    rmSync(outdir, { recursive: true });
  }
}

/** Converts an ES module chunk to CommonJS: imports of chunks become calls to `require`; `import()` of other files is left as is. */
async function toCommonJs(file: string): Promise<string> {
  const source = readFileSync(file, 'utf8').replaceAll(
    /\bimport\(("\.\/chunk-\w+\.js")\)/g,
    'Promise.resolve().then(()=>require($1))',
  );
  const { code } = await transform(source, {
    format: 'cjs',
    target: 'node22',
    minifyWhitespace: true,
    charset: 'ascii',
    define: { 'import.meta.url': '"file:///podwright.js"', 'import.meta.dirname': '"/"' },
  });
  return code.trimEnd();
}
