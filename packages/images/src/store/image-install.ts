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

/** Where an image comes from: a registry, a layout directory, or the content store itself. */
export interface BlobSource {
  /** The manifest or index of a descriptor, not more than `manifestLimits.manifestBytes`. */
  readManifest(descriptor: Descriptor): Promise<Buffer>;
  /** Brings a config or a layer into the content store, verified. */
  fetchBlob(descriptor: Descriptor, options: FetchOptions): Promise<void>;
}

export type FetchOptions = {
  signal: AbortSignal;
  onProgress: (bytes: number) => void;
  /** Called with the blob before its bytes come, again for each attempt; not if it is there, or another call brings it. */
  onArriving?: (blob: ArrivingBlob) => void;
};

export type ImageInstallerOptions = {
  content: ContentStore;
  layers: LayerSnapshots;
  records: ImageRecords;
  platform: Platform;
  /** Where the content is, for the question whether it fits. */
  root: string;
  parallelDownloads: number;
  /** Called before a manifest is fetched that was not there: its layers are likely to be new, too. */
  prepareUnpacking: () => void;
  trace: TraceWork;
};

/** One image to bring in. `what` begins error messages. */
export type Installation = {
  what: string;
  target: Descriptor;
  source: BlobSource;
  lease: Lease;
  tracker: TransferTracker;
  signal: AbortSignal;
};

/** An image whose content and snapshots are there; it only lacks its names and its record. */
export type InstalledImage = Omit<NewImage, 'tags' | 'digests'>;

/** `config` is on its way where the manifest is known to be meant for this host: its layers need not wait for it to come. */
type Found = {
  manifest: ImageManifest;
  config: Promise<ImageConfig>;
  manifestDigest: string;
  visited: ExpectedBlob[];
};

/**
 * The way down to a manifest: the indexes above it, whether it is known to be meant for this host, and the digests that the
 * search has come by so far.
 */
type Path = { above: ExpectedBlob[]; certain: boolean; seen: Set<string> };

/**
 * Brings an image's content and snapshots into place: from a manifest or index down to unpacked layers. Downloads run at
 * once, up to a limit, beside that of the config; each layer is unpacked while it comes, once those below it are there. Whatever
 * is touched is held by the installation's lease; the caller records the image before it gives the lease back.
 */
export class ImageInstaller {
  readonly #options: ImageInstallerOptions;

  constructor(options: ImageInstallerOptions) {
    this.#options = options;
  }

  async install(wanted: Installation): Promise<InstalledImage> {
    const failure = new AbortController(); // the first one ends the rest
    const installation = { ...wanted, signal: AbortSignal.any([wanted.signal, failure.signal]) };
    const { tracker, lease } = installation;
    // what is named itself is taken as it is: emulators run what the host cannot
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
      const all = Promise.all(arrivals.map(({ whole }) => whole)).then(() => tracker.finishDownloads());
      const config = await Promise.race([found.config, all.then(() => found.config)]); // not for long if a layer is lost
      tracker.setBlobBytes(manifest.config.digest, manifest.config.size);
      const chain = await this.#unpack(installation, layerSteps(manifest.layers, config.rootfs.diff_ids), arrivals);
      await all;
      const kept = await this.#kept(manifest.config.digest);
      return { id: manifest.config.digest, config, chain, content, manifestDigest, sizeBytes, ...kept };
    } catch (error) {
      failure.abort(error);
      await Promise.allSettled([found.config, ...arrivals.map(({ whole }) => whole)]);
      throw failure.signal.reason;
    }
  }

  /** What a known image keeps when it is pulled or loaded again, unless packed parts of it were lost, which now are there. */
  async #kept(id: string): Promise<Pick<InstalledImage, 'manifestDigest' | 'sizeBytes'> | undefined> {
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
      return undefined; // the manifest itself is gone or damaged
    }
  }

  /** Goes down from an index to the manifest for this host; each step is kept in the content store. */
  async #find(installation: Installation, descriptor: Descriptor, path: Path): Promise<Found> {
    const { content, prepareUnpacking } = this.#options;
    const { what, source, lease } = installation;
    countDocument(path.seen, descriptor.digest, what);
    lease.hold(descriptor.digest);
    if (!(await content.has(descriptor))) prepareUnpacking();
    await content.ingest(descriptor, async (writer) => {
      const whole = await source.readManifest(descriptor);
      await writer.write(whole.subarray(writer.offset)); // some may be there of a pull that was killed
    });
    const data = await content.readSmall(descriptor.digest, manifestLimits.manifestBytes);
    const parsed = parseManifest(data, descriptor.mediaType, what);
    const visited = [...path.above, { digest: descriptor.digest, size: data.length }];
    if (parsed.kind === 'index') return this.#findInIndex(installation, parsed.manifests, { ...path, above: visited });
    const config = this.#fetchConfig(installation, parsed, path);
    if (!path.certain) await config; // it says whether the manifest is meant for this host
    config.catch(() => undefined); // heard of by who waits for it
    return { manifest: parsed, config, manifestDigest: descriptor.digest, visited };
  }

  /** The entry for this platform; among those that name none, the first whose config fits. */
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
      if (seen.has(entry.digest)) continue; // it did not fit before
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

  /** Says at once that the layers cannot fit; while they come the disk may still become full. */
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

  /** Begins to fetch the layers; the failure of one ends all. */
  #fetchLayers(
    { source, tracker, signal }: Installation,
    { layers }: ImageManifest,
    failure: AbortController,
  ): LayerArrival[] {
    const { parallelDownloads, trace } = this.#options;
    const limiter = new Limiter(parallelDownloads);
    return layers.map((descriptor) => {
      const { promise: begun, resolve: onArriving } = Promise.withResolvers<ArrivingBlob | undefined>();
      const onProgress = (bytes: number) => tracker.setBlobBytes(descriptor.digest, bytes);
      const fetch = () =>
        trace(`download ${shown(descriptor)}`, () => source.fetchBlob(descriptor, { signal, onProgress, onArriving }));
      const whole = limiter.run(fetch, signal);
      const end = () => onArriving(undefined);
      whole.then(end, (error: unknown) => {
        end();
        failure.abort(error);
      });
      return { begun, whole };
    });
  }

  /** Unpacks the layers, one after the other, while they come. Returns their chain ids. */
  async #unpack(
    { tracker, lease, signal }: Installation,
    steps: LayerStep[],
    arrivals: LayerArrival[],
  ): Promise<string[]> {
    const chain = steps.map(({ chainId }) => chainId);
    lease.hold(...chain);
    for (const [index, step] of steps.entries()) {
      const bring = () => this.#options.layers.bring(step, arrivals[index]!, signal);
      await this.#options.trace(`unpack ${shown(step.descriptor)}`, bring);
      tracker.finishLayer();
    }
    return chain;
  }
}

/** A layer in names of spans: as much of its digest as tells it from others, and its bytes. */
function shown({ digest, size }: Descriptor): string {
  return `layer ${digest.slice('sha256:'.length).slice(0, 12)} (${size} bytes)`;
}

/** Notes a document that is to be fetched; `resource_exhausted` when a search has come by too many. */
function countDocument(seen: Set<string>, digest: string, what: string): void {
  seen.add(digest);
  if (seen.size <= manifestLimits.documents) return;
  const why = `more than ${manifestLimits.documents} manifests and configs were looked at, and none was for this host`;
  throw new PodwrightError('resource_exhausted', `${what}: ${why}`);
}

/** There is nothing for this host. */
class NoPlatformError extends PodwrightError {
  readonly offered: string[];

  constructor(what: string, host: Platform, offered: string[]) {
    const list = offered.length === 0 ? 'none' : [...new Set(offered)].slice(0, 20).join(', ').slice(0, 500);
    super('not_found', `${what}: no image for ${formatPlatform(host)}; there is: ${list}`);
    this.offered = offered;
  }
}
