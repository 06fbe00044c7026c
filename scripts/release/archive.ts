import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { archiveLayout, type ReleaseFiles, writeLayout } from './package-files.ts';
import { run } from './run.ts';

/** zstd compression level. Level 19 produces 12 % smaller files but takes ten times as long. */
export const ZSTD_LEVEL = 12;

/** Writes `NAME.tar.zst`, which contains the directory NAME, to `directory`, and also `NAME.tar.gz` for hosts without zstd. */
export function makeArchives(directory: string, { name, scratch, files, epoch }: ArchiveOptions): void {
  writeLayout(join(scratch, name), files, archiveLayout(files));
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  const tar = join(scratch, `${name}.tar`);
  run('tar', ['--sort=name', `--mtime=@${epoch}`, ...owner, '--format=gnu', '-C', scratch, '-cf', tar, name]);
  run('zstd', ['--quiet', '--force', '-T1', `-${ZSTD_LEVEL}`, tar, '-o', join(directory, `${name}.tar.zst`)]);
  run('gzip', ['-n', tar]);
  renameSync(`${tar}.gz`, join(directory, `${name}.tar.gz`));
}

export type ArchiveOptions = { name: string; scratch: string; files: ReleaseFiles; epoch: number };
