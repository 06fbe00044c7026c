import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Broadcast, isErrno, PodwrightError, wrapError } from '@podwright/base';
import type { ContentStore } from '../content/content-store.ts';
import { manifestLimits } from '../limits.ts';
import { parseManifest } from '../spec/manifest.ts';
import { mediaTypes } from '../spec/media-types.ts';
import { type Platform, pickPlatform } from '../spec/platform.ts';
import type { BlobSource, ImageInstaller } from '../store/image-install.ts';
import type { ImageRecords, NewImage } from '../store/image-records.ts';
import type { TransferProgress } from '../store/image-service.ts';
import type { Lease, Leases } from '../store/leases.ts';
import { TransferTracker } from '../store/transfer-progress.ts';
import { readArchive } from './archive-reader.ts';
import { dockerImages } from './docker-archive.ts';
import { chooseNames, groupByName, type NamedImage } from './image-names.ts';
import { contentSource, layoutSource, readSmallFile } from './layout-source.ts';

export type ImageLoaderOptions = {
  content: ContentStore;
  installer: ImageInstaller;
  records: ImageRecords;
  leases: Leases;
  platform: Platform;
  progress: Broadcast<TransferProgress>;
};

type Load = { path: string; lease: Lease; tracker: TransferTracker; signal: AbortSignal };

/**
 * The images in a file, and a source for their blobs. `hasManifests`: whether the file contains the original manifests, so that the images'
 * digests are the same as in the registry.
 */
type Opened = { images: NamedImage[]; source: BlobSource; hasManifests: boolean };

/** Loads images from OCI layouts and Docker archives. */
export class ImageLoader {
  readonly #options: ImageLoaderOptions;

  constructor(options: ImageLoaderOptions) {
    this.#options = options;
  }

  /** Loads all images of the file or directory at `path`, or none on error. Returns each image's names by image ID. */
  async load(path: string, { signal, name }: { signal: AbortSignal; name?: string }): Promise<Map<string, string[]>> {
    const tracker = new TransferTracker(this.#options.progress, path);
    using lease = this.#options.leases.open();
    try {
      const images = await this.#load({ path, lease, tracker, signal }, name);
      this.#options.records.putAll(images);
      tracker.finish();
      return namesById(images);
    } catch (error) {
      tracker.fail(error);
      throw signal.aborted ? error : wrapError(`load ${path}`, error);
    }
  }

  async #load(load: Load, name: string | undefined): Promise<NewImage[]> {
    const { images, source, hasManifests } = await this.#open(load);
    if (images.length === 0) throw new PodwrightError('invalid_argument', 'it contains no image');
    const { archiveImages } = manifestLimits;
    if (images.length > archiveImages)
      throw new PodwrightError('invalid_argument', `it has ${images.length} images, more than ${archiveImages}`);
    const names = chooseNames(images, name);
    const loaded: NewImage[] = [];
    for (const [index, { candidates }] of images.entries()) {
      const target = pickPlatform(candidates, this.#options.platform) ?? candidates[0]!;
      const { lease, tracker, signal } = load;
      const what = names[index] ?? 'image';
      checkDigest(names[index], target.digest);
      const image = await this.#options.installer.install({ what, target, source, lease, tracker, signal });
      const recorded = recordedNames(names[index], hasManifests ? target.digest : undefined);
      loaded.push({ ...image, ...recorded, isLoaded: true });
    }
    return loaded;
  }

  async #open(load: Load): Promise<Opened> {
    const { content } = this.#options;
    if (await isDirectory(load.path)) {
      const index = await readSmallFile(join(load.path, 'index.json'));
      return { images: layoutImages(index), source: layoutSource(load.path, content), hasManifests: true };
    }
    return this.#openArchive(load);
  }

  async #openArchive({ path, lease, tracker, signal }: Load): Promise<Opened> {
    const { content } = this.#options;
    const { size } = await stat(path);
    tracker.startDownloads([{ digest: path, size }], 0);
    const onProgress = (bytes: number) => tracker.setBlobBytes(path, bytes);
    const archive = await readArchive({ path, content, lease, signal, onProgress });
    const source = contentSource(content);
    const index = archive.documents.get('index.json');
    if (index !== undefined) return { images: layoutImages(index), source, hasManifests: true };
    const document = archive.documents.get('manifest.json');
    if (document === undefined) {
      const why = 'it has neither index.json (OCI layout) nor manifest.json (Docker archive)';
      throw new PodwrightError('invalid_argument', why);
    }
    return { images: await dockerImages(archive, { document, content, lease }), source, hasManifests: false };
  }
}

function namesById(images: NewImage[]): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const { id, tags, digests } of images)
    names.set(id, [...(names.get(id) ?? []), ...(tags.length > 0 ? tags : digests)]);
  return names;
}

function layoutImages(data: Buffer): NamedImage[] {
  const index = parseManifest(data, mediaTypes.ociIndex, 'index.json');
  if (index.kind !== 'index') throw new PodwrightError('invalid_argument', 'index.json is not an image index');
  return groupByName(index.manifests);
}

/** Rejects a name whose digest differs from the image's: pods requesting this digest would run a different image. */
function checkDigest(name: string | undefined, digest: string): void {
  const at = name?.indexOf('@') ?? -1;
  if (name === undefined || at < 0 || name.slice(at + 1) === digest) return;
  throw new PodwrightError('invalid_argument', `the image named ${name} has the digest ${digest}`);
}

/**
 * Returns the image names to record. `digest` is `undefined` for a manifest created by Podwright: no registry has it, so the image gets no
 * `repo@digest` name.
 */
function recordedNames(name: string | undefined, digest: string | undefined): Pick<NewImage, 'tags' | 'digests'> {
  if (name === undefined) return { tags: [], digests: [] };
  const at = name.indexOf('@');
  if (at >= 0) return { tags: [], digests: [name] };
  const repository = name.slice(0, name.lastIndexOf(':'));
  return { tags: [name], digests: digest === undefined ? [] : [`${repository}@${digest}`] };
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) {
      throw new PodwrightError('invalid_argument', 'no such file or directory');
    }
    throw error;
  }
}
