import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { CONTAINER_FILE, PodwrightError, PRIVATE_FILE, wrapError } from '@podwright/base';
import { replaceFile } from '@podwright/host';
import type { ContentStore } from '../content/content-store.ts';
import { parseDigest } from '../content/digest.ts';
import { manifestLimits } from '../limits.ts';
import { type Descriptor, type ImageManifest, parseManifest } from '../spec/manifest.ts';
import { mediaTypes } from '../spec/media-types.ts';
import type { StoredImage } from '../store/image-records.ts';
import { ARCHIVE_END, tarHeader, tarPadding } from './tar-writer.ts';

/** An image to save, with the names to write to the file. An image requested by ID is saved with all its names. */
export type ImageToSave = { image: StoredImage; names: string[] };

type Part = ImageToSave & { manifest: ImageManifest; descriptor: Descriptor };

/**
 * Writes images to a single tar file that is both an OCI layout and, thanks to its `manifest.json`, a Docker archive. The file is renamed
 * to `path` once it is complete. The caller must hold a lease on the images' content. Rejects with `failed_precondition` if a blob is
 * missing.
 */
export async function saveImages(
  images: ImageToSave[],
  { path, content, signal }: { path: string; content: ContentStore; signal: AbortSignal },
): Promise<void> {
  try {
    const parts = await Promise.all(images.map((each) => readPart(each, content)));
    await replaceFile(path, (temporary) =>
      pipeline(archive(parts, content), createWriteStream(temporary, { flags: 'wx', mode: PRIVATE_FILE }), { signal }),
    );
  } catch (error) {
    signal.throwIfAborted();
    throw wrapError(`save images to ${path}`, error);
  }
}

async function readPart({ image, names }: ImageToSave, content: ContentStore): Promise<Part> {
  const data = await content.readSmall(image.manifestDigest, manifestLimits.manifestBytes);
  const manifest = parseManifest(data, '', `manifest ${image.manifestDigest}`);
  if (manifest.kind !== 'manifest') throw new PodwrightError('internal', `${image.manifestDigest} is an index`);
  const { mediaType } = manifest;
  return {
    image,
    names,
    manifest,
    descriptor: { mediaType, digest: image.manifestDigest, size: data.length, platform: undefined },
  };
}

async function* archive(parts: Part[], content: ContentStore): AsyncGenerator<Buffer> {
  yield* document('oci-layout', { imageLayoutVersion: '1.0.0' });
  yield* document('index.json', ociIndex(parts));
  yield* document('manifest.json', dockerManifest(parts));
  const blobs = parts.flatMap(({ descriptor, manifest }) => [descriptor, manifest.config, ...manifest.layers]);
  for (const blob of new Map(blobs.map((each) => [each.digest, each])).values()) {
    if (!(await content.has(blob))) {
      const why = `blob ${blob.digest} is not in the content store; pull the image again`;
      throw new PodwrightError('failed_precondition', why);
    }
    yield fileHeader(blobPath(blob.digest), blob.size);
    yield* content.createReadStream(blob.digest);
    yield tarPadding(blob.size);
  }
  yield ARCHIVE_END;
}

function* document(name: string, value: unknown): Generator<Buffer> {
  const data = Buffer.from(JSON.stringify(value));
  yield fileHeader(name, data.length);
  yield data;
  yield tarPadding(data.length);
}

/**
 * Builds the OCI layout's index: one entry per name, with the annotations read by containerd and image-spec tools. An image without names
 * gets a single entry.
 */
function ociIndex(parts: Part[]): object {
  const manifests = parts.flatMap(({ descriptor, names }) => {
    const plain = { mediaType: descriptor.mediaType, digest: descriptor.digest, size: descriptor.size };
    if (names.length === 0) return [plain];
    return names.map((name) => ({
      ...plain,
      annotations: {
        'io.containerd.image.name': name,
        'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
      },
    }));
  });
  return { schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests };
}

function dockerManifest(parts: Part[]): object {
  return parts.map(({ manifest, names }) => ({
    Config: blobPath(manifest.config.digest),
    RepoTags: names,
    Layers: manifest.layers.map(({ digest }) => blobPath(digest)),
  }));
}

function blobPath(digest: string): string {
  const { algorithm, hex } = parseDigest(digest);
  return `blobs/${algorithm}/${hex}`;
}

function fileHeader(name: string, size: number): Buffer {
  return tarHeader({ name, type: 'file', mode: CONTAINER_FILE, size });
}
