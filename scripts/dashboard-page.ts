/** Bundles the page for `podwright dashboard`: `node scripts/dashboard-page.ts [DIRECTORY]` (default `dist/dashboard`). */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile, type Plugin } from 'esbuild';
import { PRIVATE_DIRECTORY } from '../packages/base/src/modes.ts';
import { typeOf } from '../packages/dashboard/src/files/page-files.ts';
import { buildFacts } from './build-facts.ts';
import { pageImports } from './bundle-imports.ts';
import { pageStyles } from './page-styles.ts';

const PAGE = 'packages/dashboard/page';
/** In bundles, `embedPage` replaces this module with one that contains the page's files. */
const READER = /\/packages\/dashboard\/src\/files\/built-page\.ts$/;

/** `files` maps the paths at which they are served to their contents. */
export type BuiltPage = { files: Map<string, Buffer>; metafile: Metafile };

/** Bundles the page. The names of all files except the document contain a hash of their content. */
export async function buildPage(): Promise<BuiltPage> {
  const { outputFiles, metafile } = await build({
    entryPoints: { page: `${PAGE}/main.tsx`, style: `${PAGE}/page.css` },
    outdir: 'assets',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    write: false,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2023', 'chrome120', 'firefox120', 'safari17'],
    minify: true,
    charset: 'utf8',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: buildFacts(),
    legalComments: 'none',
    metafile: true,
    plugins: [pageStyles, pageImports(process.cwd())],
    logLevel: 'warning',
  });
  const assets = outputFiles.map(({ path, contents }) => [`/assets/${basename(path)}`, Buffer.from(contents)] as const);
  const icon = readFileSync(`${PAGE}/icon.svg`);
  const iconPath = `/assets/icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8).toUpperCase()}.svg`;
  const document = documentOf(metafile, iconPath);
  const files: (readonly [string, Buffer])[] = [['/', document], [iconPath, icon], ...assets];
  return { files: new Map(files.sort(([a], [b]) => (a < b ? -1 : 1))), metafile };
}

/** Returns the document with the relative URLs of its script, style sheet and icon, and of the chunks imported by the script. */
function documentOf({ outputs }: Metafile, iconPath: string): Buffer {
  const named = (entry: string) => {
    const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === `${PAGE}/${entry}`);
    if (found === undefined) throw new Error(`the page has no output for ${entry}`);
    return { name: `assets/${basename(found[0])}`, imports: found[1].imports };
  };
  const script = named('main.tsx');
  const chunks = script.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path));
  const preloads = chunks.map((name) => `<link rel="modulepreload" href="assets/${name}">`);
  const values: Record<string, string> = {
    '%SCRIPT%': script.name,
    '%STYLE%': named('page.css').name,
    '%ICON%': iconPath.slice(1),
    '%HEAD%': preloads.join(''),
  };
  const template = readFileSync(`${PAGE}/index.html`, 'utf8');
  return Buffer.from(template.replaceAll(/%[A-Z]+%/g, (place) => values[place] ?? place));
}

/** An esbuild plugin that embeds the page's files in a bundle of the command. */
export function embedPage({ files }: BuiltPage): Plugin {
  return {
    name: 'embed-page',
    setup: (plugins) => {
      plugins.onLoad({ filter: READER }, () => {
        const list = [...files].map(([path, bytes]) => [path, typeOf(nameOf(path)), gzipped(bytes).toString('base64')]);
        const contents = `const list = ${JSON.stringify(list)};
          export async function readPage() {
            return new Map(list.map(([path, type, text]) => [path, { type, gzipped: Buffer.from(text, 'base64') }]));
          }`;
        return { contents, loader: 'js' };
      });
    },
  };
}

/**
 * Compresses with gzip, with the same result on every machine: node:zlib writes no time, and byte 9, the operating system, is set to
 * unknown (RFC 1952).
 */
function gzipped(bytes: Buffer): Buffer {
  const compressed = gzipSync(bytes, { level: 9 });
  compressed[9] = 0xff;
  return compressed;
}

/** Writes the files to a directory, where the command finds them when running from source. */
export function writePage(directory: string, { files }: BuiltPage): void {
  rmSync(directory, { recursive: true, force: true });
  for (const [path, bytes] of files) {
    const file = join(directory, nameOf(path));
    mkdirSync(dirname(file), { recursive: true, mode: PRIVATE_DIRECTORY });
    writeFileSync(file, bytes);
  }
}

const nameOf = (path: string) => (path === '/' ? 'index.html' : path.slice(1));

if (import.meta.main) writePage(process.argv[2] ?? 'dist/dashboard', await buildPage());
