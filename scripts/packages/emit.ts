/** Compiles the published packages to JavaScript and declarations. */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { root, type WorkspacePackage } from './workspace.ts';

/** For Node.js 22.22, the oldest version supported by the packages: it has everything in ES2024 that the sources use, but lacks `using`. */
const TARGET = 'es2023';

/** Compiles into `directory`: `packages/X/src/y.ts` becomes `X/src/y.js` and `X/src/y.d.ts`, next to the generated messages. */
export function emit(packages: WorkspacePackage[], directory: string): void {
  const config = join(directory, 'tsconfig.json');
  const sources = packages.map((one) => join(one.directory, 'src'));
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        target: TARGET,
        rootDir: join(root, 'packages'),
        outDir: directory,
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: sources.map((source) => `${source}/**/*.ts`),
      exclude: sources.map((source) => `${source}/**/*.test.ts`),
    }),
  );
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
  });
  for (const { short, directory: source } of packages)
    for (const generated of globSync('src/gen/**/*.{js,d.ts}', { cwd: source }))
      cpSync(join(source, generated), join(directory, short, generated));
  // tsc rewrites `./x.ts` only in JavaScript; in declarations, not every tool resolves it to x.d.ts.
  for (const path of globSync('*/src/**/*.d.ts', { cwd: directory })) {
    const file = join(directory, path);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(['"])(\.{1,2}\/[^'"\n]+)\.ts\1/g, '$1$2.js$1'));
  }
}

/**
 * The modules reachable from a package's entries, named by path under its `src` without extension. Includes workers, which are referenced
 * by URL.
 */
export function reachedModules(directory: string, entries: string[]): string[] {
  const reached = new Set<string>();
  const visit = (module: string) => {
    if (reached.has(module)) return;
    reached.add(module);
    for (const extension of ['.js', '.d.ts'])
      for (const target of relativeImports(readFileSync(join(directory, module + extension), 'utf8')))
        visit(normalize(join(dirname(module), target)));
  };
  for (const entry of entries) visit(entry);
  return [...reached].sort();
}

const relativeImports = (text: string): string[] =>
  [...text.matchAll(/(['"])(\.{1,2}\/[^'"\n]+)\.js\1/g)].map((match) => match[2]!);

/** The packages imported by declarations or JavaScript, excluding Node.js built-ins. */
export function importedPackages(text: string): string[] {
  const names = text.matchAll(/(?:\b(?:from|import) |\bimport\()(['"])((?:@[\w-]+\/)?[\w-][\w.-]*)(?:\/[^'"\n]*)?\1/g);
  return [...names].map((match) => match[2]!);
}
