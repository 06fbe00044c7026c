import { createCipheriv, createHash } from 'node:crypto';
import { createReadStream, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runChecked } from '@podwright/host';

const FILE_BYTES = 256 << 10;

/** Size of an image. Each file is 256 KiB. */
export type ImageSize = { layers: number; filesPerLayer: number };

type Blob = { digest: string; size: number };

/** Creates an OCI layout containing one image with gzip layers. Deterministic. The files compress to about three quarters of their size. */
export async function makeImage(layout: string, size: ImageSize): Promise<void> {
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true });
  const layers: (Blob & { diffId: string })[] = [];
  for (let index = 0; index < size.layers; index++) layers.push(await makeLayer(layout, index, size.filesPerLayer));
  const config = putJson(layout, {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: { Cmd: ['/bin/true'] },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
  });
  const manifest = putJson(layout, {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
    layers: layers.map(({ digest, size }) => ({
      mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
      digest,
      size,
    })),
  });
  writeFileSync(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  const entry = { mediaType: 'application/vnd.oci.image.manifest.v1+json', ...manifest };
  writeFileSync(join(layout, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [entry] }));
}

async function makeLayer(layout: string, index: number, files: number): Promise<Blob & { diffId: string }> {
  const root = join(layout, `layer-${index}`);
  for (let file = 0; file < files; file++) {
    const directory = join(root, `data-${index}`, `d${file % 20}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `f${file}`), noise(index * files + file));
  }
  const tar = join(layout, `layer-${index}.tar`);
  await runChecked('tar', [
    '-C',
    root,
    '--sort=name',
    '--mtime=@0',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '-cf',
    tar,
    '.',
  ]);
  await rm(root, { recursive: true });
  const diffId = await sha256(tar);
  await runChecked('gzip', ['-n', '-1', tar]);
  const digest = await sha256(`${tar}.gz`);
  const size = statSync(`${tar}.gz`).size;
  await rename(`${tar}.gz`, join(layout, 'blobs/sha256', digest.slice(7)));
  return { digest, size, diffId };
}

/** Returns text that compresses like mixed content: a base64-encoded key stream. */
function noise(seed: number): string {
  const key = createHash('sha256').update(String(seed)).digest();
  const stream = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc((FILE_BYTES * 3) / 4));
  return stream.toString('base64');
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return `sha256:${hash.digest('hex')}`;
}

function putJson(layout: string, value: object): Blob {
  const text = JSON.stringify(value);
  const hex = createHash('sha256').update(text).digest('hex');
  writeFileSync(join(layout, 'blobs/sha256', hex), text);
  return { digest: `sha256:${hex}`, size: Buffer.byteLength(text) };
}
