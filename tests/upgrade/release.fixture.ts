/**
 * Releases as installed by `podwright upgrade`. Building Node.js' single executable takes a minute, so the program is a script that
 * contains the entire bundle instead.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { build } from 'esbuild';

const checkout = new URL('../..', import.meta.url).pathname;

export type Release = { version: string; directory: string; archive: string };

export function buildBundleOf(from: string, directory: string, version?: string): string {
  const dist = join(directory, 'dist');
  const env = { ...process.env, ...(version !== undefined && { PODWRIGHT_VERSION: version }) };
  execFileSync(process.execPath, ['scripts/build.ts', dist], { cwd: from, env, stdio: 'inherit' });
  symlinkSync(join(from, 'node_modules'), join(directory, 'node_modules'));
  return join(dist, 'podwright.js');
}

/** Builds this version's program from the current sources, and an archive of it with checksums. */
export async function buildRelease(parent: string, version: string): Promise<Release> {
  const work = join(parent, `work-${version}`);
  mkdirSync(work);
  const entry = buildBundleOf(checkout, work, version);
  const { outputFiles } = await build({
    ...{ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', target: 'node22', write: false },
    external: ['koffi', 'better-sqlite3', '@grpc/proto-loader'],
  });
  const program = `#!${process.execPath} --expose-gc\n${outputFiles[0]!.text}`;
  const release = writeRelease(parent, version, program);
  cpSync(join(work, 'dist/unpack-worker.cjs'), join(release.directory, 'unpack-worker.cjs'));
  rmSync(work, { recursive: true });
  return release;
}

/** Packs a program into an archive, with checksums. */
export function writeRelease(parent: string, version: string, program: string): Release {
  const directory = join(parent, `release-${version}`);
  mkdirSync(directory);
  writeFileSync(join(directory, 'podwright'), program);
  chmodSync(join(directory, 'podwright'), 0o755);
  const name = `podwright-${version}-linux-${process.arch}.tar.zst`;
  const archive = join(directory, name);
  writeFileSync(
    archive,
    zstdCompressSync(execFileSync('tar', ['-C', directory, '-cf', '-', 'podwright'], { maxBuffer: 64 << 20 })),
  );
  writeFileSync(join(directory, 'SHA256SUMS'), `${sha256(archive)}  ${name}\n`);
  return { version, directory, archive };
}

export const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Installs a release's program in a new directory; returns the program's path. */
export function install(release: Release, directory: string): string {
  mkdirSync(directory);
  for (const name of ['podwright', 'unpack-worker.cjs']) cpSync(join(release.directory, name), join(directory, name));
  writeFileSync(join(directory, 'package.json'), '{"type": "module"}');
  symlinkSync(join(checkout, 'node_modules'), join(directory, 'node_modules'));
  return join(directory, 'podwright');
}
