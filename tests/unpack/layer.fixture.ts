import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { type FixtureEntry, tarArchive } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import type { LayerUnpacker } from '../../packages/images/src/unpack/unpack-layer.ts';
import type { UnpackOptions, UnpackResult } from '../../packages/images/src/unpack/unpack-options.ts';
import type { Scratch } from './scratch.ts';

export const gzipLayer = 'application/vnd.oci.image.layer.v1.tar+gzip';

/** Writes a layer with these entries and unpacks it into `<scratch>/<name>`, which is created if needed. */
export function unpackEntries(
  unpacker: LayerUnpacker,
  scratch: Scratch,
  entries: FixtureEntry[] | Buffer,
  options: Partial<UnpackOptions> & { name?: string } = {},
): Promise<UnpackResult> {
  const { name = 'layer', ...rest } = options;
  mkdirSync(scratch.at(name), { recursive: true });
  const blobPath = scratch.at(`${name}.blob`);
  writeFileSync(blobPath, Buffer.isBuffer(entries) ? entries : gzipSync(tarArchive(entries)));
  const signal = AbortSignal.timeout(120_000);
  return unpacker.unpackLayer({
    blobPath,
    mediaType: gzipLayer,
    directory: scratch.at(name),
    overlayWhiteouts: true,
    signal,
    ...rest,
  });
}

export const directory = (name: string, more: Partial<FixtureEntry> = {}): FixtureEntry => ({
  name,
  flag: '5',
  mode: 0o755,
  ...more,
});
export const file = (name: string, body = '', more: Partial<FixtureEntry> = {}): FixtureEntry => ({
  name,
  body,
  ...more,
});
export const symlink = (name: string, link: string): FixtureEntry => ({ name, flag: '2', link });
export const hardLink = (name: string, link: string): FixtureEntry => ({ name, flag: '1', link });
export const text = (path: string): string => readFileSync(path, 'utf8');
