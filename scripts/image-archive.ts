/** Builds images from directories, without image tools. Deterministic: the same files produce the same digests. */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { runChecked } from '@podwright/host';

export type ImageOptions = {
  /** Full name of the image, with a tag. */
  name: string;
  root: string;
  /** The `config` object of the image config (image-spec v1, config.md). */
  config: Record<string, unknown>;
  /** Where the files come from, for the image's history. */
  origin: string;
  /** Creation time, in seconds since 1970. Default: 0. */
  created?: number;
};

export type WrittenImage = { name: string; layout: string; manifestDigest: string; id: string; layerDigest: string };

type Blob = { digest: string; size: number };

/** Writes an OCI layout (image-spec v1, image-layout.md) containing one single-layer image to the empty directory `layout`. */
export async function writeImageLayout(layout: string, options: ImageOptions): Promise<WrittenImage> {
  const { name, root } = options;
  await mkdir(join(layout, 'blobs/sha256'), { recursive: true });
  const { layer, diffId } = await packLayer(root, layout);
  const config = await putJson(layout, imageConfig(diffId, options));
  const manifest = await putJson(layout, {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
    layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', ...layer }],
  });
  await writeLayoutIndex(layout, manifest, name);
  return { name, layout, manifestDigest: manifest.digest, id: config.digest, layerDigest: layer.digest };
}

/** Writes a layout as a single tar file for `podwright load`, with a `manifest.json` for Docker Engine before 25. */
export async function writeImageArchive(
  path: string,
  write: (layout: string) => Promise<WrittenImage>,
): Promise<WrittenImage> {
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-layout-'));
  try {
    const image = await write(scratch);
    await mkdir(dirname(resolve(path)), { recursive: true });
    const blob = (digest: string) => `blobs/sha256/${digest.slice('sha256:'.length)}`;
    const docker = [{ Config: blob(image.id), RepoTags: [image.name], Layers: [blob(image.layerDigest)] }];
    await writeFile(join(scratch, 'manifest.json'), JSON.stringify(docker));
    const entries = ['oci-layout', 'index.json', 'manifest.json', 'blobs'];
    await runChecked('tar', [...reproducible, '-C', scratch, '-cf', path, ...entries]);
    return { ...image, layout: path };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const reproducible = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu'];

async function packLayer(root: string, layout: string): Promise<{ layer: Blob; diffId: string }> {
  const tar = `${root}.tar`;
  await runChecked('tar', [...reproducible, '-C', root, '-cf', tar, '.']);
  const diffId = sha256(await readFile(tar));
  await runChecked('gzip', ['-n', '-6', '-f', tar]);
  const digest = sha256(await readFile(`${tar}.gz`));
  await copyFile(`${tar}.gz`, join(layout, 'blobs/sha256', digest));
  const { size } = await stat(`${tar}.gz`);
  return { layer: { digest: `sha256:${digest}`, size }, diffId: `sha256:${diffId}` };
}

function imageConfig(diffId: string, { config, origin, created: seconds = 0 }: ImageOptions): object {
  const created = new Date(seconds * 1000).toISOString().replace('.000', '');
  return {
    created,
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Env: ['PATH=/bin:/usr/bin:/sbin:/usr/sbin'], Cmd: undefined, WorkingDir: '/', ...config },
    rootfs: { type: 'layers', diff_ids: [diffId] },
    history: [{ created, created_by: origin }],
  };
}

async function writeLayoutIndex(layout: string, manifest: Blob, name: string): Promise<void> {
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        ...manifest,
        annotations: {
          'io.containerd.image.name': name,
          'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
        },
      },
    ],
  };
  await writeFile(join(layout, 'index.json'), JSON.stringify(index));
  await writeFile(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
}

async function putJson(layout: string, value: object): Promise<Blob> {
  const data = Buffer.from(JSON.stringify(value));
  await writeFile(join(layout, 'blobs/sha256', sha256(data)), data);
  return { digest: `sha256:${sha256(data)}`, size: data.length };
}

function sha256(data: Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}
