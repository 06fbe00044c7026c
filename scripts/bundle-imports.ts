/**
 * An esbuild plugin that rewrites imports, so that a command loads only the code it needs.
 *
 * - A package's index exports everything in the package, and esbuild puts all of it into the chunks of every file that imports a single
 *   name: `podwright ps` would load gRPC. So each name is imported from the file that declares it.
 * - An `import` of a built-in module reads all its exports, some of which are lazy getters that load code: the WebSocket client in
 *   `node:http` (20 ms), the streams in `node:fs` (4 ms). `process.getBuiltinModule` does not read them.
 * - The YAML parser is only loaded when YAML is parsed (4 ms): most programs write JSON.
 * - A package that another one requires only for unused features is replaced with an empty module, because loaded code stays in memory.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/** Where a name exported by a package's index is declared: the file, and the name in that file. */
type Place = { file: string; name: string };

/** A name in the braces of an import or export, and its alias. */
type Item = { name: string; as: string };

/** The project's sources (as formatted) and commander, the only ES module among the dependencies that imports built-in modules. */
const FILES = /\/packages\/[^/]+\/src\/.*\.ts$|\/commander\/.*\.js$/;
const INDEX_IMPORT = /^import \{([^}]*)\} from '@podwright\/([a-z-]+)';$/gm;
const BUILTIN_IMPORT = /^import (?:(\w+)|\{([^}]*)\}) from ('node:[a-z0-9_/]+');$/gm;

/** The sources of the dashboard page, whose package imports are rewritten too. */
const PAGE_FILES = /\/packages\/(?:[^/]+\/src|dashboard\/page)\/.*\.tsx?$/;
/** Files that import Node.js built-in modules, but only for functions that the page never calls. */
const UNUSED_BUILTINS = /\/packages\/base\/src\/system-error-message\.ts$/;

/** Packages that can be loaded lazily: only their functions and classes are used, and no class extends one of theirs. */
const LATE_PACKAGES = /^yaml$/;

/** Packages that are never used: the Prometheus client needs this one for exemplars, which none of the metrics have. */
const UNUSED_PACKAGES = /^@opentelemetry\/api$/;

/**
 * An esbuild plugin for the dashboard page. It rewrites imports from a package's index to imports from the files that declare the names.
 * The build fails if a file of the page, other than those in UNUSED_BUILTINS, imports a Node.js built-in module.
 */
export function pageImports(checkout: string): Plugin {
  const direct = directImporter(checkout);
  return {
    name: 'page-imports',
    setup(build) {
      build.onResolve({ filter: /^node:/ }, ({ path, importer }) =>
        UNUSED_BUILTINS.test(importer) ? { path, namespace: 'unused' } : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: 'unused' }, () => ({ contents: 'module.exports = {};' }));
      build.onLoad({ filter: PAGE_FILES }, ({ path }) => ({
        loader: path.endsWith('x') ? 'tsx' : 'ts',
        contents: readFileSync(path, 'utf8').replaceAll(
          INDEX_IMPORT,
          (statement, list, name) => direct(list, name) + linesOf(statement),
        ),
      }));
    },
  };
}

/** Returns a function that rewrites an import from a package's index. `list` contains the imported names, `name` is the package's name. */
function directImporter(checkout: string): (list: string, name: string) => string {
  const known = new Map<string, Map<string, Place>>();
  const placesOf = (file: string): Map<string, Place> => {
    const places = known.get(file) ?? findPlaces(file, placesOf);
    known.set(file, places);
    return places;
  };
  return (list, name) => {
    const index = placesOf(resolve(checkout, `packages/${name}/src/index.ts`));
    return directImports(itemsOf(list), { index, from: `@podwright/${name}` });
  };
}

export function bundleImports(checkout: string): Plugin {
  const direct = directImporter(checkout);
  return {
    name: 'bundle-imports',
    setup(build) {
      build.onResolve({ filter: LATE_PACKAGES }, ({ path, kind }) =>
        kind === 'import-statement' ? { path, namespace: 'late' } : undefined,
      );
      build.onLoad({ filter: LATE_PACKAGES, namespace: 'late' }, async ({ path }) => ({
        contents: await lateModule(path),
        resolveDir: checkout,
      }));
      build.onResolve({ filter: UNUSED_PACKAGES }, ({ path }) => ({ path, namespace: 'unused' }));
      build.onLoad({ filter: UNUSED_PACKAGES, namespace: 'unused' }, () => ({ contents: 'module.exports = {};' }));
      build.onLoad({ filter: FILES }, ({ path }) => ({
        loader: path.endsWith('.ts') ? 'ts' : 'js',
        contents: readFileSync(path, 'utf8')
          .replaceAll(INDEX_IMPORT, (statement, list, name) => direct(list, name) + linesOf(statement))
          .replaceAll(
            BUILTIN_IMPORT,
            (statement, ...[all, list, name]) => fromBuiltin(all, list, name) + linesOf(statement),
          ),
      }));
    },
  };
}

/** Line breaks that preserve the line count of a replaced statement, for positions in stack traces. */
const linesOf = (statement: string) => '\n'.repeat(statement.split('\n').length - 1);

/** Returns the names in the braces of an import or export, excluding types. */
function itemsOf(list: string): Item[] {
  const items = list.split(',').map((item) => item.trim());
  return items
    .filter((item) => item !== '' && !item.startsWith('type '))
    .map((item) => {
      const [name = '', as = name] = item.split(' as ');
      return { name, as };
    });
}

/** Imports each name from its own file. A name that the index re-exports from a dependency is still imported from the index. */
function directImports(items: Item[], { index, from }: { index: Map<string, Place>; from: string }): string {
  const statements = items.map(({ name, as }) => {
    const place = index.get(name) ?? { file: from, name };
    return `import { ${place.name} as ${as} } from ${JSON.stringify(place.file)};`;
  });
  return statements.join(' ');
}

/** A module that exports the functions and classes of a CommonJS package, and loads the package when one of them is first called. */
async function lateModule(name: string): Promise<string> {
  const all = (await import(name)) as Record<string, unknown>;
  const exported = Object.keys(all).filter(
    (key) => /^\w+$/.test(key) && key !== 'default' && typeof all[key] === 'function',
  );
  const lines = exported.map((key) =>
    /^[A-Z]/.test(key)
      ? `export function ${key}(...values) { return new (all().${key})(...values); }`
      : `export const ${key} = (...values) => all().${key}(...values);`,
  );
  return [`let loaded; const all = () => (loaded ??= require(${JSON.stringify(name)}));`, ...lines].join('\n');
}

/** The module that is loaded on first use: commander imports all of it, but needs it only for subcommands in separate executables. */
const LATE = "'node:child_process'";

function fromBuiltin(all: string | undefined, list: string, name: string): string {
  if (all !== undefined && name === LATE)
    return `const ${all} = new Proxy({}, { get: (_, name) => globalThis.process.getBuiltinModule(${name})[name] });`;
  const items = all === undefined ? itemsOf(list) : [];
  if (all === undefined && items.length === 0) return '';
  const names = all ?? `{ ${items.map(({ name, as }) => `${name}: ${as}`).join(', ')} }`;
  return `const ${names} = globalThis.process.getBuiltinModule(${name});`;
}

/** Returns where the values exported by a file are declared, including those re-exported from files of the same package. */
function findPlaces(file: string, placesOf: (file: string) => Map<string, Place>): Map<string, Place> {
  const source = readFileSync(file, 'utf8');
  const found = new Map<string, Place>();
  for (const [, name = ''] of source.matchAll(/^export (?:async |abstract )?(?:const|let|function\*?|class) (\w+)/gm))
    found.set(name, { file, name });
  for (const [, list = '', from = ''] of source.matchAll(/^export \{([^}]*)\} from '(\.[^']*)';/gm)) {
    const below = placesOf(resolve(dirname(file), from));
    for (const { name, as } of itemsOf(list)) {
      const place = below.get(name);
      if (place !== undefined) found.set(as, place);
    }
  }
  for (const [, from = ''] of source.matchAll(/^export \* from '(\.[^']*)';/gm))
    for (const [name, place] of placesOf(resolve(dirname(file), from))) found.set(name, place);
  return found;
}
