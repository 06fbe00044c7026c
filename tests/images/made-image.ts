import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { sha256Digest } from '../../packages/images/src/content/digest.ts';
import { mediaTypes } from '../../packages/images/src/spec/media-types.ts';

export type Packing = 'tar' | 'gzip' | 'zstd';
export type MadeLayer = { data: Buffer; diffId: string; mediaType: string };

export const hostArchitecture = process.arch === 'x64' ? 'amd64' : process.arch;

/** Creates a layer from these files (path → text) with GNU tar. */
export function makeLayer(files: Record<string, string>, packing: Packing = 'gzip'): MadeLayer {
  const directory = mkdtempSync(join(tmpdir(), 'made-layer-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
    }
    const options = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '-C', directory, '-cf', '-', '.'];
    const tar = execFileSync('tar', options, { maxBuffer: 1 << 30 });
    return packLayer(tar, packing);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

export function packLayer(tar: Buffer, packing: Packing): MadeLayer {
  const diffId = sha256Digest(tar);
  if (packing === 'tar') return { data: tar, diffId, mediaType: mediaTypes.ociLayer };
  const data = packing === 'gzip' ? gzipSync(tar) : zstdCompressSync(tar);
  return { data, diffId, mediaType: `${mediaTypes.ociLayer}+${packing}` };
}

/** A registry or a layout that accepts blobs and manifests. */
export interface BlobSink {
  addBlob(data: Buffer): { digest: string; size: number };
  addManifest(tag: string, value: object, mediaType: string): { digest: string; size: number; mediaType: string };
}

/** Adds an image with these layers; returns its manifest's descriptor and its ID. */
export function addImage(
  sink: BlobSink,
  { tag, layers, architecture = hostArchitecture }: { tag: string; layers: MadeLayer[]; architecture?: string },
): { manifest: { digest: string; size: number; mediaType: string }; id: string } {
  const config = {
    architecture,
    os: 'linux',
    config: { Cmd: ['sh'], Env: [`TAG=${tag}`] },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
  };
  const configBlob = sink.addBlob(Buffer.from(JSON.stringify(config)));
  const value = {
    schemaVersion: 2,
    mediaType: mediaTypes.ociManifest,
    config: { mediaType: mediaTypes.ociConfig, ...configBlob },
    layers: layers.map(({ data, mediaType }) => ({ mediaType, ...sink.addBlob(data) })),
  };
  return { manifest: sink.addManifest(tag, value, mediaTypes.ociManifest), id: configBlob.digest };
}
