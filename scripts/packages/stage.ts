/** Creates the directories of the published packages and packs them. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { versionOfBuild } from '../build-facts.ts';
import { emit, importedPackages, reachedModules } from './emit.ts';
import { moduleOf, publishedManifest } from './manifest.ts';
import { root, type WorkspacePackage, workspaceManifest } from './workspace.ts';

/** The version in `packages/base/src/version.ts`, which a bundle replaces with a constant. */
const VERSION_OF_SOURCES = /typeof PODWRIGHT_VERSION === 'undefined' \? '[^']*' : PODWRIGHT_VERSION/;

/** Creates `DIRECTORY/X` for each package X: package.json, dist, README.md and LICENSE. */
export function stage(packages: WorkspacePackage[], directory: string): void {
  const compiled = join(directory, '.compiled');
  emit(packages, compiled);
  for (const one of packages)
    stagePackage(one, { from: join(compiled, one.short, 'src'), to: join(directory, one.short) });
}

function stagePackage({ directory, manifest }: WorkspacePackage, { from, to }: { from: string; to: string }): void {
  const entries = Object.values(manifest.exports).map(moduleOf);
  const declarations: string[] = [];
  const version = versionOfBuild(root);
  for (const module of reachedModules(from, entries)) {
    mkdirSync(dirname(join(to, 'dist', module)), { recursive: true });
    const code = readFileSync(join(from, `${module}.js`), 'utf8');
    writeFileSync(join(to, 'dist', `${module}.js`), code.replace(VERSION_OF_SOURCES, JSON.stringify(version)));
    const text = readFileSync(join(from, `${module}.d.ts`), 'utf8');
    declarations.push(text);
    // A TypeScript program without `types` in its configuration finds the Node.js types through this line.
    const head = entries.includes(module) ? '/// <reference types="node" />\n' : '';
    writeFileSync(join(to, 'dist', `${module}.d.ts`), head + text);
  }
  const published = publishedManifest(manifest, {
    version,
    declared: importedPackages(declarations.join('\n')),
    workspace: workspaceManifest(),
  });
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  cpSync(join(root, 'LICENSE'), join(to, 'LICENSE'));
  const readme = join(directory, 'README.md');
  if (existsSync(readme)) cpSync(readme, join(to, 'README.md'));
}

/** Packs staged packages; returns the paths of the tarballs in the same order. The same files produce the same bytes. */
export function pack(directories: string[], to: string): string[] {
  mkdirSync(to, { recursive: true });
  for (const old of globSync('podwright-*.tgz', { cwd: to })) rmSync(join(to, old));
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', to, ...directories];
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };
  const output = execFileSync('npm', args, { encoding: 'utf8', env, maxBuffer: 64 << 20 });
  return (JSON.parse(output) as { filename: string }[]).map(({ filename }) => join(to, filename));
}
