/** The bundle as the executable contains it: the chunks of the command and the worker, in CommonJS. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Metafile, transform } from 'esbuild';
import { bundle } from '../bundle.ts';
import { nativeLoaders } from './native-parts.ts';

export type Chunks = {
  /** Code by file name; `podwright.js` exports `main`. */
  code: Map<string, string>;
  /** Of the command and of the dashboard's page. */
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
      // A source map has the paths from `outdir` to the checkout, and is part of the hash in the name of its chunk.
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

/** An import of a chunk becomes a call of `require`; `import()` of other files stays. */
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
