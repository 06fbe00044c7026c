/**
 * The native parts of the executable: koffi and SQLite. Their packages look for a file; in the executable they are given the loaded part
 * instead.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import type { Architecture } from './node-binary.ts';
import { npmArchive } from './npm-archive.ts';

/** The prebuilt file of each part. npm only installs koffi's for this host's architecture. */
export function nativeParts(architecture: Architecture): Record<string, Buffer> {
  const name = `@koromix/koffi-linux-${architecture}`;
  const file = `linux_${architecture}/koffi.node`;
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  const { version, integrity } = packages[`node_modules/${name}`]!;
  return {
    'koffi.node': readFileSync(join(npmArchive({ name, version, integrity, files: [file] }), file)),
    'better-sqlite3.node': readFileSync(`node_modules/better-sqlite3/prebuilds/linux-${architecture}.node`),
  };
}

type Lock = { packages: Record<string, { version: string; integrity: string }> };

const LOADERS = [
  {
    filter: /\/koffi\/src\/koffi\/src\/static\.js$/,
    contents: "export const loadStatic = () => require('native:koffi.node');",
  },
  {
    filter: /\/better-sqlite3\/lib\/binding\.js$/,
    contents: "exports.getBinding = () => require('native:better-sqlite3.node');",
  },
];

/** An esbuild plugin that replaces the files of koffi and better-sqlite3 that locate and load their native parts. */
export const nativeLoaders: Plugin = {
  name: 'native-loaders',
  setup(build) {
    for (const { filter, contents } of LOADERS) build.onLoad({ filter }, () => ({ contents }));
  },
};
