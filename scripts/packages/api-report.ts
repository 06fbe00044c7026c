/**
 * The API report of a package: the declarations visible to its users, from the compiled `.d.ts` files. The exports of each entry come
 * first, followed by other declarations of the package that they refer to.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { type DeclarationFile, parseDeclarations } from './declarations.ts';
import type { PublishedManifest } from './manifest.ts';

type Found = { module: string; name: string };

/** Returns the API report of the staged package in `directory`. */
export function apiReport(directory: string): string {
  const { name, exports }: PublishedManifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const modules = new Modules(directory);
  const entries = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [{ path: join(name, path), exported: modules.exportsOf(moduleOf(target.types)) }],
  );
  const own = entries.flatMap(({ exported }) =>
    exported.flatMap(([, found]) => (typeof found === 'string' ? [] : [found])),
  );
  const shown = new Set(own.map(keyOf));
  const referred = modules.referredBy(own).filter((found) => !shown.has(keyOf(found)));
  return [
    `The public names of ${name}, written by \`make api\`. Generated messages and names of other packages are not repeated.`,
    ...entries.flatMap(({ path, exported }) => [`## ${path}`, ...exported.map((one) => textOfExport(modules, one))]),
    ...(referred.length === 0 ? [] : ['## Not exported, but part of the above']),
    ...referred.map((found) => modules.textOf(found)),
  ]
    .map((text) => `${text}\n`)
    .join('\n');
}

const moduleOf = (target: string): string => normalize(target).replace(/\.d\.ts$/, '');

function textOfExport(modules: Modules, [as, found]: [string, Found | string]): string {
  if (typeof found === 'string') return as === '*' ? `export * from '${found}';` : `export { ${as} } from '${found}';`;
  const text = modules.textOf(found);
  return as === found.name ? text : `${text}\nexport { ${found.name} as ${as} };`;
}

const keyOf = ({ module, name }: Found): string => `${module}#${name}`;
const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

/** The declaration files of one package, each parsed once. A module is named by its path in the package without the extension. */
class Modules {
  readonly #directory: string;
  readonly #files = new Map<string, DeclarationFile>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Returns the exports of a module, by name. For a name declared by another package or by a generated file, the value is just the name of
   * that module.
   */
  exportsOf(module: string): [string, Found | string][] {
    const { exported, exportedModules } = this.#file(module);
    const named = [...exported].map(([as, origin]): [string, Found | string] => [
      as,
      origin === 'local' ? { module, name: as } : this.#resolve(module, origin),
    ]);
    const all = exportedModules.flatMap((target) =>
      isOpaque(target)
        ? [['*', target] as [string, string]]
        : this.exportsOf(join(dirname(module), target.slice(0, -3))),
    );
    return [...named, ...all].sort(byName);
  }

  textOf({ module, name }: Found): string {
    return this.#file(module).declared.get(name)!.join('\n');
  }

  /** Returns the declarations of the package that `declarations` refer to, directly or indirectly, sorted by name. */
  referredBy(declarations: Found[]): Found[] {
    const found = new Map(declarations.map((one) => [keyOf(one), one]));
    for (const one of found.values())
      for (const next of this.#references(one)) if (!found.has(keyOf(next))) found.set(keyOf(next), next);
    return [...found.values()].sort((a, b) => byName([a.name, a], [b.name, b]));
  }

  #references(from: Found): Found[] {
    const { declared, imported } = this.#file(from.module);
    const words = new Set(this.textOf(from).match(/[\w$]+/g));
    return [...words].flatMap((word) => {
      if (declared.has(word)) return word === from.name ? [] : [{ module: from.module, name: word }];
      const origin = imported.get(word);
      const target = origin && this.#resolve(from.module, origin);
      return target === undefined || typeof target === 'string' ? [] : [target];
    });
  }

  /** Follows a name through re-exporting modules to its declaration. */
  #resolve(from: string, { module: target, name }: { module: string; name: string }): Found | string {
    if (isOpaque(target)) return target;
    const module = join(dirname(from), target.slice(0, -3));
    const file = this.#file(module);
    if (file.declared.has(name)) return { module, name };
    const found = this.exportsOf(module).find(([as]) => as === name)?.[1];
    return found ?? target;
  }

  #file(module: string): DeclarationFile {
    let file = this.#files.get(module);
    if (file === undefined) {
      file = parseDeclarations(readFileSync(join(this.#directory, `${module}.d.ts`), 'utf8'));
      this.#files.set(module, file);
    }
    return file;
  }
}

const isOpaque = (target: string): boolean => !target.startsWith('.') || target.includes('/gen/');
