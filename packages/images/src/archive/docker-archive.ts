import { open } from 'node:fs/promises';
import { PodwrightError } from '@podwright/base';
import * as z from 'zod';
import type { ContentStore } from '../content/content-store.ts';
import type { ExpectedBlob } from '../content/content-writer.ts';
import { sha256Digest } from '../content/digest.ts';
import { manifestLimits } from '../limits.ts';
import { boundedList, decode, stringList } from '../spec/decode-json.ts';
import type { Descriptor } from '../spec/manifest.ts';
import { mediaTypes } from '../spec/media-types.ts';
import type { Lease } from '../store/leases.ts';
import type { Archive } from './archive-reader.ts';
import type { NamedImage } from './image-names.ts';

const archiveSchema = boundedList(
  z.object({
    Config: z.string(),
    RepoTags: stringList(manifestLimits.archiveImages).nullish(),
    Layers: stringList(manifestLimits.layers).nullish(),
  }),
  manifestLimits.archiveImages,
);

/**
 * Returns the images listed in a Docker archive's `manifest.json` (moby, image/spec/v1.2.md, "Combined Image JSON + Filesystem Changeset
 * Format"). Such archives contain no image manifests, so a schema 2 manifest is created for each image.
 */
export async function dockerImages(
  archive: Archive,
  { document, content, lease }: { document: Buffer; content: ContentStore; lease: Lease },
): Promise<NamedImage[]> {
  const images: NamedImage[] = [];
  for (const entry of decode(archiveSchema, document, 'manifest.json')) {
    const config = { mediaType: mediaTypes.dockerConfig, ...fileOf(archive, entry.Config) };
    const layers = await Promise.all(
      (entry.Layers ?? []).map(async (path) => describeLayer(fileOf(archive, path), content)),
    );
    const manifest = { schemaVersion: 2, mediaType: mediaTypes.dockerManifest, config, layers };
    const data = Buffer.from(JSON.stringify(manifest));
    const blob = { digest: sha256Digest(data), size: data.length };
    lease.hold(blob.digest);
    await content.ingest(blob, (writer) => writer.write(data.subarray(writer.offset)));
    const target: Descriptor = { mediaType: mediaTypes.dockerManifest, ...blob, platform: undefined };
    const names = entry.RepoTags?.length ? entry.RepoTags : [undefined];
    for (const name of names) images.push({ candidates: [target], name, tag: name?.split(':').at(-1) });
  }
  return images;
}

function fileOf(archive: Archive, path: string): ExpectedBlob {
  const file = archive.fileAt(path);
  if (file !== undefined) return file;
  throw new PodwrightError(
    'invalid_argument',
    `manifest.json names the file ${path.slice(0, 200)}, which is not in the archive`,
  );
}

/** Detects a layer's compression from its magic bytes, because `manifest.json` does not record it. */
async function describeLayer(blob: ExpectedBlob, content: ContentStore): Promise<ExpectedBlob & { mediaType: string }> {
  await using file = await open(content.path(blob.digest));
  const start = Buffer.alloc(4);
  await file.read(start, 0, 4, 0);
  const base = 'application/vnd.docker.image.rootfs.diff.tar';
  if (start.readUInt16BE(0) === 0x1f8b) return { mediaType: `${base}.gzip`, ...blob };
  if (start.readUInt32LE(0) === 0xfd2fb528) return { mediaType: `${base}.zstd`, ...blob };
  return { mediaType: base, ...blob };
}
