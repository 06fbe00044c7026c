/**
 * How the bundle imports, so that a command loads what it needs and no more.
 *
 * - A package's index names everything of the package, and esbuild puts what an index names into the chunks of all that import one
 *   thing of it: `podwright ps` would load gRPC. Here each name is imported from the file that has it.
 * - An `import` of a module of Node.js reads all that the module exports, and some of it is loaded by being read: `node:http` brings
 *   its WebSocket client (20 ms), `node:fs` its streams (4 ms). `process.getBuiltinModule` reads nothing.
 * - What reads YAML is run when there is some (4 ms): most of what programs write is JSON.
 * - A package that another one requires for what nobody here asks of it is left out: daemons keep in memory what they load.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/** Where a name that an index has is written. */
type Place = { file: string; name: string };

/** A name in the braces of an import or export, and the name that it gets. */
type Item = { name: string; as: string };

/** Our sources as the formatter leaves them, and the one ES module of others that imports modules of Node.js. */
const FILES = /\/packages\/[^/]+\/src\/.*\.ts$|\/commander\/.*\.js$/;
const INDEX_IMPORT = /^import \{([^}]*)\} from '@podwright\/([a-z]+)';$/gm;
const BUILTIN_IMPORT = /^import (?:(\w+)|\{([^}]*)\}) from ('node:[a-z0-9_/]+');$/gm;

/** Packages whose functions and classes, and nothing else of them, our sources use; none is the base of a class. */
const LATE_PACKAGES = /^yaml$/;

/** The client of Prometheus has it for exemplars, which none of our metrics has. */
const UNUSED_PACKAGES = /^@opentelemetry\/api$/;

export function bundleImports(checkout: string): Plugin {
  const known = new Map<string, Map<string, Place>>();
  const placesOf = (file: string): Map<string, Place> => {
    const places = known.get(file) ?? findPlaces(file, placesOf);
    known.set(file, places);
    return places;
  };
  const direct = (list: string, name: string) => {
    const index = placesOf(resolve(checkout, `packages/${name}/src/index.ts`));
    return directImports(itemsOf(list), { index, from: `@podwright/${name}` });
  };
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

/** What stands for a statement has as many lines, for positions in stacks. */
const linesOf = (statement: string) => '\n'.repeat(statement.split('\n').length - 1);

/** Types have no place in a bundle. */
function itemsOf(list: string): Item[] {
  const items = list.split(',').map((item) => item.trim());
  return items
    .filter((item) => item !== '' && !item.startsWith('type '))
    .map((item) => {
      const [name = '', as = name] = item.split(' as ');
      return { name, as };
    });
}

/** What an index has from packages that are not ours is imported from the index. */
function directImports(items: Item[], { index, from }: { index: Map<string, Place>; from: string }): string {
  const statements = items.map(({ name, as }) => {
    const place = index.get(name) ?? { file: from, name };
    return `import { ${place.name} as ${as} } from ${JSON.stringify(place.file)};`;
  });
  return statements.join(' ');
}

/** Exports the functions and classes of a CommonJS package, and runs the package when one is called. */
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

/** Loaded when something of it is used: commander, which imports it as a whole, has it for commands in files of their own. */
const LATE = "'node:child_process'";

function fromBuiltin(all: string | undefined, list: string, name: string): string {
  if (all !== undefined && name === LATE)
    return `const ${all} = new Proxy({}, { get: (_, name) => globalThis.process.getBuiltinModule(${name})[name] });`;
  const items = all === undefined ? itemsOf(list) : [];
  if (all === undefined && items.length === 0) return '';
  const names = all ?? `{ ${items.map(({ name, as }) => `${name}: ${as}`).join(', ')} }`;
  return `const ${names} = globalThis.process.getBuiltinModule(${name});`;
}

/** The values that a file exports, its own and those of files of the same package. */
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
