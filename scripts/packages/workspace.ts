/** The packages of the workspace, and the published ones among them: all without `"private": true` in their package.json. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

export type Manifest<Target = string> = {
  name: string;
  version: string;
  private?: boolean;
  keywords?: string[];
  exports: Record<string, Target>;
  dependencies?: Record<string, string>;
  [field: string]: unknown;
};

/** `short` is the name without its scope, and also the name of the directory. */
export type WorkspacePackage = { short: string; directory: string; manifest: Manifest };

const readManifest = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

export function workspacePackages(): WorkspacePackage[] {
  return globSync('packages/*/package.json', { cwd: root })
    .sort()
    .map((path) => {
      const directory = join(root, dirname(path));
      return { short: dirname(path).split('/').at(-1)!, directory, manifest: readManifest(join(root, path)) };
    });
}

export const publishedPackages = (): WorkspacePackage[] =>
  workspacePackages().filter(({ manifest }) => manifest.private !== true);

/** The workspace's package.json. `repository` is unset until the project has a public address. */
export const workspaceManifest = (): {
  devDependencies: Record<string, string>;
  repository?: { type: string; url: string };
} => readManifest(join(root, 'package.json')) as never;
