/** The package.json of a published package. */
import type { Manifest, workspaceManifest } from './workspace.ts';

export type PublishedManifest = Manifest<string | { types: string; default: string }>;

/** The name of the module behind a workspace export: `./src/csi.ts` is `csi`. */
export const moduleOf = (source: string): string => source.replace(/^\.\/src\//, '').replace(/\.ts$/, '');

/**
 * Replaces the sources in `exports` by compiled files. In the workspace the exports are the sources, so that Node.js, esbuild, tsc and knip
 * use them without a build and without a condition; a `development` condition would need a flag in each of these.
 *
 * `declared` are the packages that the declarations import. Types that the workspace has from `@types` become dependencies. `version` is
 * that of the release, which all packages have.
 */
export function publishedManifest(
  source: Manifest,
  {
    version,
    declared,
    workspace,
  }: { version: string; declared: string[]; workspace: ReturnType<typeof workspaceManifest> },
): PublishedManifest {
  const { exports, dependencies = {}, devDependencies: _development, scripts: _scripts, ...fields } = source;
  const compiled = Object.entries(exports).map(([path, target]) => {
    const file = `./dist/${moduleOf(target)}`;
    return [path, { types: `${file}.d.ts`, default: `${file}.js` }];
  });
  const types = declared.flatMap((name) => {
    const range = workspace.devDependencies[`@types/${name}`];
    return range === undefined ? [] : [[`@types/${name}`, range]];
  });
  const scope = source.name.split('/')[0]!;
  const fixed = Object.entries(dependencies).map(([name, range]) => [
    name,
    name.startsWith(`${scope}/`) ? version : range,
  ]);
  // `@types/node` is a dependency with an open range, so that its version can match the user's Node.js.
  const needed: Record<string, string> = { ...Object.fromEntries([...fixed, ...types]), '@types/node': '>=22' };
  const { repository } = workspace;
  return {
    ...fields,
    version,
    ...(repository && { repository: { ...repository, directory: `packages/${source.name.split('/')[1]}` } }),
    exports: { ...Object.fromEntries(compiled), './package.json': './package.json' },
    files: ['dist'],
    dependencies: Object.fromEntries(Object.entries(needed).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
