/** The sources and their imports, for layout tests. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;

/** All files in the tree that are not ignored by Git, as paths relative to its root. */
export const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && existsSync(root + path));

export const read = (path: string): string => readFileSync(root + path, 'utf8');

const isTest = (path: string) => /\.(test|suite)\.ts$/.test(path) || path.startsWith('tests/');

/** TypeScript files, except generated ones. */
export const sources = tracked.filter((path) => /\.ts$/.test(path) && !path.includes('/gen/'));
/** Whether a file is an example program that is quoted in its package's README. */
export const isExample = (path: string): boolean => /^packages\/[^/]+\/examples\//.test(path);

/** Package sources, except tests, contract suites and examples. */
export const shipped = sources.filter((path) => /^packages\/[^/]+\/src\//.test(path) && !isTest(path));

/** Returns a file's imports and re-exports: paths of files in the tree, or package names. */
export function imports(path: string): string[] {
  return [...read(path).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => {
    const target = match[1]!;
    return target.startsWith('.') ? posix.join(posix.dirname(path), target) : target;
  });
}

/** Returns a file's imports from its own package. */
export function ownImports(path: string): string[] {
  const owner = path.split('/').slice(0, 3).join('/');
  return imports(path).filter((target) => target.startsWith(`${owner}/`) && !target.includes('/gen/'));
}

/** Returns the room of a file under a package's `src`: its directory or, for files at the top level of `src`, the file itself. */
export const roomOf = (path: string): string => {
  const [name, ...below] = path.split('/').slice(3);
  return below.length === 0 ? name! : [name, ...below.slice(0, -1)].join('/');
};

/** Returns the cycles in a graph, each as a list of nodes along the cycle that ends with the first node. */
export function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const circles = new Set<string>();
  const done = new Set<string>();
  const visit = (node: string, way: string[]) => {
    const begin = way.indexOf(node);
    if (begin >= 0) circles.add([...way.slice(begin), node].join(' → '));
    if (begin >= 0 || done.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...way, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return [...circles];
}
