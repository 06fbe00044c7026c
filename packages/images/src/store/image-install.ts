import { statfs } from 'node:fs/promises';
import { Limiter, PodwrightError, type TraceWork } from '@podwright/base';
import type { ArrivingBlob } from '../content/arriving-blob.ts';
import type { ContentStore } from '../content/content-store.ts';
import type { ExpectedBlob } from '../content/content-writer.ts';
import { bytesForImages, MAKE_ROOM } from '../content/disk-reserve.ts';
import { manifestLimits } from '../limits.ts';
import type { ImageConfig } from '../spec/manifest.ts';
import { type Descriptor, type ImageManifest, parseImageConfig, parseManifest } from '../spec/manifest.ts';
import { canRun, formatPlatform, type Platform, pickPlatform } from '../spec/platform.ts';
import type { ImageRecords, NewImage } from './image-records.ts';
import { type LayerArrival, type LayerSnapshots, type LayerStep, layerSteps } from './layer-snapshots.ts';
import type { Lease } from './leases.ts';
import type { TransferTracker } from './transfer-progress.ts';

/** The source of an image: a registry, an OCI layout directory, or the content store itself. */
export interface BlobSource {
  /** Reads the manifest or index referred to by a descriptor; at most `manifestLimits.manifestBytes`. */
  readManifest(descriptor: Descriptor): Promise<Buffer>;
  /** Fetches a config or a layer into the content store, which verifies it. */
  fetchBlob(descriptor: Descriptor, options: FetchOptions): Promise<void>;
}

export type FetchOptions = {
  signal: AbortSignal;
  onProgress: (bytes: number) => void;
  /**
   * Called at the start of each attempt with the blob being downloaded. Not called if the blob already exists or is being fetched by
   * another call.
   */
  onArriving?: (blob: ArrivingBlob) => void;
};

export type ImageInstallerOptions = {
  content: ContentStore;
  layers: LayerSnapshots;
  records: ImageRecords;
  platform: Platform;
  /** Directory of the content store. Free disk space is checked on its file system. */
  root: string;
  parallelDownloads: number;
  /**
   * Called before a new manifest is fetched, so that a worker can be started in advance: the manifest's layers are probably new too and
   * have to be unpacked.
   */
  prepareUnpacking: () => void;
  trace: TraceWork;
};

/** An image to install. `what` is the prefix of messages about errors in it. */
export type Installation = {
  what: string;
  target: Descriptor;
  source: BlobSource;
  lease: Lease;
  tracker: TransferTracker;
  signal: AbortSignal;
};

/** An image whose content and snapshots are present, but which has not been named and recorded yet. */
export type InstalledImage = Omit<NewImage, 'tags' | 'digests' | 'isLoaded'>;

/**
 * The manifest for this host. `config` might still be pending while layers are fetched, but only if the index has already identified the
 * manifest as being for this host.
 */
type Found = {
  manifest: ImageManifest;
  config: Promise<ImageConfig>;
  manifestDigest: string;
  visited: ExpectedBlob[];
};

/**
 * The state of the search for this host's manifest: the indexes leading to the current document, whether the document is already known to
 * be for this host, and the digests of all documents visited so far.
 */
type Path = { above: ExpectedBlob[]; certain: boolean; seen: Set<string> };

/**
 * Installs an image's content and snapshots, from a manifest or index down to unpacked layers. Layers are downloaded concurrently, up to a
 * limit, while the config is fetched. Each layer is unpacked during its download, once the layers below it have been unpacked. The
 * installation's lease holds everything in use; the caller must record the image before releasing the lease.
 */
export class ImageInstaller {
  readonly #options: ImageInstallerOptions;

  constructor(options: ImageInstallerOptions) {
    this.#options = options;
  }

  async install(request: Installation): Promise<InstalledImage> {
    const failure = new AbortController(); // the first failure aborts the rest
    const installation = { ...request, signal: AbortSignal.any([request.signal, failure.signal]) };
    const { tracker, lease } = installation;
    // a manifest that the user refers to directly is accepted for any platform, because an emulator might be able to run it
    const found = await this.#find(installation, installation.target, { above: [], certain: true, seen: new Set() });
    const { manifest, manifestDigest, visited } = found;
    const blobs = [...visited, manifest.config, ...manifest.layers];
    const content = blobs.map(({ digest }) => digest);
    const sizeBytes = blobs.reduce((sum, { size }) => sum + size, 0);
    const arrivals: LayerArrival[] = [];
    try {
      lease.hold(...content);
      tracker.startDownloads([manifest.config, ...manifest.layers], manifest.layers.length);
      await this.#checkSpace(installation, manifest.layers);
      arrivals.push(...this.#fetchLayers(installation, manifest, failure));
      const all = Promise.all(arrivals.map(({ fetched }) => fetched)).then(() => tracker.finishDownloads());
      const config = await Promise.race([found.config, all.then(() => found.config)]); // a failed layer ends the wait for the config
      tracker.setBlobBytes(manifest.config.digest, manifest.config.size);
      const chain = await this.#unpack(installation, layerSteps(manifest.layers, config.rootfs.diff_ids), arrivals);
      await all;
      const previous = await this.#previousManifest(manifest.config.digest);
      return { id: manifest.config.digest, config, chain, content, manifestDigest, sizeBytes, ...previous };
    } catch (error) {
      failure.abort(error);
      await Promise.allSettled([found.config, ...arrivals.map(({ fetched }) => fetched)]);
      throw failure.signal.reason;
    }
  }

  /**
   * Returns the recorded manifest and size of an existing image. The image keeps them when it is pulled or loaded again with differently
   * compressed layers, unless some of its old blobs are missing.
   */
  async #previousManifest(id: string): Promise<Pick<InstalledImage, 'manifestDigest' | 'sizeBytes'> | undefined> {
    const { content, records } = this.#options;
    const known = records.get(id);
    if (known === undefined) return undefined;
    try {
      const data = await content.readSmall(known.manifestDigest, manifestLimits.manifestBytes);
      const manifest = parseManifest(data, '', `manifest ${known.manifestDigest}`);
      if (manifest.kind !== 'manifest') return undefined;
      const present = await Promise.all([manifest.config, ...manifest.layers].map((blob) => content.has(blob)));
      return present.every(Boolean) ? { manifestDigest: known.manifestDigest, sizeBytes: known.sizeBytes } : undefined;
    } catch {
      return undefined; // the manifest itself is missing or damaged
    }
  }

  /** Descends from an index to the manifest for this host, storing each document on the way in the content store. */
  async #find(installation: Installation, descriptor: Descriptor, path: Path): Promise<Found> {
    const { content, prepareUnpacking } = this.#options;
    const { what, source, lease } = installation;
    countDocument(path.seen, descriptor.digest, what);
    lease.hold(descriptor.digest);
    if (!(await content.has(descriptor))) prepareUnpacking();
    await content.ingest(descriptor, async (writer) => {
      const document = await source.readManifest(descriptor);
      await writer.write(document.subarray(writer.offset)); // an interrupted pull may have written the beginning
    });
    const data = await content.readSmall(descriptor.digest, manifestLimits.manifestBytes);
    const parsed = parseManifest(data, descriptor.mediaType, what);
    const visited = [...path.above, { digest: descriptor.digest, size: data.length }];
    if (parsed.kind === 'index') return this.#findInIndex(installation, parsed.manifests, { ...path, above: visited });
    const config = this.#fetchConfig(installation, parsed, path);
    if (!path.certain) await config; // rejects if the manifest's platform is wrong
    config.catch(() => undefined); // `install` awaits the config later
    return { manifest: parsed, config, manifestDigest: descriptor.digest, visited };
  }

  /** Finds the index entry for this platform or, failing that, the first entry that specifies no platform and has a matching config. */
  async #findInIndex(installation: Installation, entries: Descriptor[], path: Path): Promise<Found> {
    const { platform } = this.#options;
    const { above, seen } = path;
    if (above.length > manifestLimits.indexDepth) {
      const why = `more than ${manifestLimits.indexDepth} nested indexes`;
      throw new PodwrightError('invalid_argument', `${installation.what}: ${why}`);
    }
    const picked = pickPlatform(entries, platform);
    if (picked?.platform !== undefined) return this.#find(installation, picked, { ...path, certain: true });
    const offered = entries.flatMap((entry) => (entry.platform === undefined ? [] : [formatPlatform(entry.platform)]));
    const unnamed = entries.filter((entry) => entry.platform === undefined).slice(0, manifestLimits.unnamedPlatforms);
    for (const entry of unnamed) {
      if (seen.has(entry.digest)) continue; // an earlier check has shown that the entry does not match
      try {
        return await this.#find(installation, entry, { ...path, certain: false });
      } catch (error) {
        if (!(error instanceof NoPlatformError)) throw error;
        offered.push(...error.offered);
      }
    }
    throw new NoPlatformError(installation.what, platform, offered);
  }

  async #fetchConfig(
    installation: Installation,
    { config, layers }: ImageManifest,
    { certain, seen }: Path,
  ): Promise<ImageConfig> {
    const { content, platform } = this.#options;
    const { what, source, lease, signal } = installation;
    if (config.size > manifestLimits.configBytes) {
      const limit = `${config.size} bytes, more than ${manifestLimits.configBytes}`;
      throw new PodwrightError('resource_exhausted', `${what}: its config has ${limit}`);
    }
    countDocument(seen, config.digest, what);
    lease.hold(config.digest);
    await source.fetchBlob(config, { signal, onProgress: () => undefined });
    const data = await content.readSmall(config.digest, manifestLimits.configBytes);
    const parsed = parseImageConfig(data, layers.length, `${what}: its config`);
    if (!certain && parsed.architecture !== '' && !canRun(platform, parsed)) {
      throw new NoPlatformError(what, platform, [formatPlatform(parsed)]);
    }
    return parsed;
  }

  /** Fails early if the layers do not fit on the disk. The disk might still fill up during the download. */
  async #checkSpace({ what }: Installation, layers: Descriptor[]): Promise<void> {
    const { content, root } = this.#options;
    const present = await Promise.all(layers.map((layer) => content.has(layer)));
    const missing = new Map(layers.flatMap(({ digest, size }, index) => (present[index] ? [] : [[digest, size]])));
    const neededBytes = [...missing.values()].reduce((sum, size) => sum + size, 0);
    const freeBytes = Math.max(0, Math.floor(bytesForImages(await statfs(root))));
    if (neededBytes <= freeBytes) return;
    throw new PodwrightError(
      'resource_exhausted',
      `${what}: its layers take ${neededBytes} bytes, ${root} has ${freeBytes} free for images; ${MAKE_ROOM}`,
    );
  }

  /** Starts fetching the layers. If one download fails, all others are aborted. */
  #fetchLayers(
    { source, tracker, signal }: Installation,
    { layers }: ImageManifest,
    failure: AbortController,
  ): LayerArrival[] {
    const { parallelDownloads, trace } = this.#options;
    const limiter = new Limiter(parallelDownloads);
    return layers.map((descriptor) => {
      const { promise: started, resolve: onArriving } = Promise.withResolvers<ArrivingBlob | undefined>();
      const onProgress = (bytes: number) => tracker.setBlobBytes(descriptor.digest, bytes);
      const fetch = () =>
        trace(`download ${shown(descriptor)}`, () => source.fetchBlob(descriptor, { signal, onProgress, onArriving }));
      const fetched = limiter.run(fetch, signal);
      const end = () => onArriving(undefined);
      fetched.then(end, (error: unknown) => {
        end();
        failure.abort(error);
      });
      return { started, fetched };
    });
  }

  /** Unpacks the layers in order as they are downloaded. Returns their chain IDs. */
  async #unpack(
    { tracker, lease, signal }: Installation,
    steps: LayerStep[],
    arrivals: LayerArrival[],
  ): Promise<string[]> {
    const chain = steps.map(({ chainId }) => chainId);
    lease.hold(...chain);
    for (const [index, step] of steps.entries()) {
      const ensure = () => this.#options.layers.ensure(step, arrivals[index]!, signal);
      await this.#options.trace(`unpack ${shown(step.descriptor)}`, ensure);
      tracker.finishLayer();
    }
    return chain;
  }
}

/** Identifies a layer in trace spans by its size and the start of its digest. */
function shown({ digest, size }: Descriptor): string {
  return `layer ${digest.slice('sha256:'.length).slice(0, 12)} (${size} bytes)`;
}

/** Counts a document about to be fetched. Throws `resource_exhausted` if the search has visited too many. */
function countDocument(seen: Set<string>, digest: string, what: string): void {
  seen.add(digest);
  if (seen.size <= manifestLimits.documents) return;
  const why = `searched more than ${manifestLimits.documents} manifests and configs, none of which is for this host`;
  throw new PodwrightError('resource_exhausted', `${what}: ${why}`);
}

class NoPlatformError extends PodwrightError {
  readonly offered: string[];

  constructor(what: string, host: Platform, offered: string[]) {
    const list = offered.length === 0 ? 'none' : [...new Set(offered)].slice(0, 20).join(', ').slice(0, 500);
    super('not_found', `${what}: no image for ${formatPlatform(host)}; available: ${list}`);
    this.offered = offered;
  }
}
