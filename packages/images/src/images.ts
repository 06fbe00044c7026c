import { Broadcast, errorMessage, type Logger, PodwrightError, type TraceWork, untraced } from '@podwright/base';
import type { MetadataDatabase } from '@podwright/metadata';
import { ImageLoader } from './archive/image-load.ts';
import { saveImages } from './archive/image-save.ts';
import { ContentStore } from './content/content-store.ts';
import { DOCUMENT_TIMEOUT_MS, FAILED_PULL_LIFETIME_MS, PARALLEL_DOWNLOADS, STALL_TIMEOUT_MS } from './limits.ts';
import { FailedPulls } from './pull/failed-pulls.ts';
import { ImagePuller } from './pull/image-pull.ts';
import { HttpClient } from './registry/http-client.ts';
import type { RegistryAuth } from './registry/registry-auth.ts';
import { defaultRetryPolicy, type RetryPolicy } from './registry/retry.ts';
import type { Snapshotter } from './snapshots/snapshotter.ts';
import { linuxPlatform } from './spec/platform.ts';
import { DiskSync, readBootId } from './store/disk-sync.ts';
import { GarbageCollector } from './store/image-gc.ts';
import { ImageInstaller } from './store/image-install.ts';
import { canonicalName, findImage, namesToRemove } from './store/image-lookup.ts';
import { ImageRecords, type StoredImage } from './store/image-records.ts';
import { recoverImages } from './store/image-recover.ts';
import type { ImageRecord, ImageService, LoadedImage, StorageUsage, TransferProgress } from './store/image-service.ts';
import { ImageUsage } from './store/image-usage.ts';
import { LayerSnapshots } from './store/layer-snapshots.ts';
import { Leases } from './store/leases.ts';
import { VerifiedLayers } from './store/verified-layers.ts';
import type { UnpackLayer } from './unpack/unpack-options.ts';

export type ImageServiceOptions = {
  /** Directory for persistent data. Blobs are in `<root>/content`. */
  root: string;
  database: MetadataDatabase;
  snapshotter: Snapshotter;
  unpackLayer: UnpackLayer;
  /** Called when a layer will probably be unpacked soon, so that a worker can be started in advance. */
  prepareUnpacking?: () => void;
  /** Directory with a `hosts.toml` per registry, like containerd's `config_path`. */
  registryConfigDir: string;
  logger: Logger;
  /** Architecture of the images to pull, as named by Node.js, the kernel or Go. Default: this process's. */
  arch?: string;
  /** Names of images that the kubelet must never garbage-collect (`pinned` in the CRI). Default: none. */
  pinnedImages?: string[];
  /** Number of concurrent downloads per pull, like containerd's max_concurrent_downloads. Default: 3. */
  parallelDownloads?: number;
  /** How long content fetched by a failed pull is retained for a retry. Default: 15 minutes, because a kubelet retries within 5 minutes. */
  failedPullLifetimeMs?: number;
  /** A download that receives no bytes for this long is aborted and retried. Default: 60 s. */
  stallTimeoutMs?: number;
  /** Maximum time to receive a manifest, a token or an error response. Default: 60 s. */
  documentTimeoutMs?: number;
  /**
   * Retry policy for registry requests. Default: 5 consecutive failures without progress are retried and the next one is final; delays
   * range from 250 ms to 8 s.
   */
  retryPolicy?: RetryPolicy;
  /** Environment variables with proxy settings. Default: the environment of this process. */
  environment?: NodeJS.ProcessEnv;
  /** Traces the steps of pulls. Optional. */
  trace?: TraceWork;
  /** Aborts the startup recovery, which re-unpacks images after a crash or power failure. Optional. */
  signal?: AbortSignal;
};

/** Opens the images under `root`, repairs any damage from a crash or power failure, and collects garbage. */
export async function createImageService(options: ImageServiceOptions): Promise<Images> {
  const { root, database, snapshotter, unpackLayer, logger } = options;
  const content = await ContentStore.open(root);
  const verified = new VerifiedLayers(database);
  const layers = new LayerSnapshots({ content, snapshotter, unpackLayer, verified });
  const bootId = await readBootId();
  const records = new ImageRecords(database, bootId);
  const signal = options.signal ?? new AbortController().signal;
  await recoverImages({ content, layers, snapshotter, records, logger, bootId, signal });
  const images = new Images(options, { content, layers, records, verified });
  await images.collectGarbage();
  images.beginSync();
  return images;
}

type Stores = { content: ContentStore; layers: LayerSnapshots; records: ImageRecords; verified: VerifiedLayers };

/** The image store: implements the `ImageService` contract on top of content, registries, archives and records. */
export class Images implements ImageService {
  readonly #stores: Stores;
  readonly #leases = new Leases();
  readonly #progress = new Broadcast<TransferProgress>();
  readonly #http: HttpClient;
  readonly #puller: ImagePuller;
  readonly #loader: ImageLoader;
  readonly #collector: GarbageCollector;
  readonly #failedPulls: FailedPulls;
  readonly #usage: ImageUsage;
  readonly #sync: DiskSync;
  readonly #pinned: string[];
  readonly #logger: Logger;

  constructor(options: ImageServiceOptions, stores: Stores) {
    const { root, snapshotter, logger, registryConfigDir } = options;
    const { stallTimeoutMs = STALL_TIMEOUT_MS, documentTimeoutMs = DOCUMENT_TIMEOUT_MS } = options;
    const {
      parallelDownloads = PARALLEL_DOWNLOADS,
      retryPolicy = defaultRetryPolicy,
      environment = process.env,
    } = options;
    const platform = linuxPlatform(options.arch ?? process.arch);
    const shared = { ...stores, leases: this.#leases, progress: this.#progress };
    const { prepareUnpacking = () => undefined, trace = untraced } = options;
    const installing = { ...stores, platform, root, parallelDownloads, prepareUnpacking, trace };
    const installer = new ImageInstaller(installing);
    this.#stores = stores;
    this.#logger = logger;
    this.#pinned = options.pinnedImages ?? [];
    this.#http = new HttpClient({ stallTimeoutMs, documentTimeoutMs, environment });
    const retentionMs = options.failedPullLifetimeMs ?? FAILED_PULL_LIFETIME_MS;
    this.#failedPulls = new FailedPulls({ retentionMs, collectGarbage: () => this.#tidyUp('a failed pull') });
    const pulling = { ...shared, installer, failedPulls: this.#failedPulls, http: this.#http, trace };
    this.#puller = new ImagePuller({ ...pulling, registryConfigDir, retryPolicy, logger });
    this.#loader = new ImageLoader({ ...shared, installer, platform });
    this.#collector = new GarbageCollector({ ...shared, snapshotter });
    this.#sync = new DiskSync({ root, snapshotter, logger, records: stores.records });
    this.#usage = new ImageUsage({ root, snapshotter, content: stores.content });
  }

  async pull(reference: string, options: { auth?: RegistryAuth; signal: AbortSignal }): Promise<ImageRecord> {
    const id = await this.#puller.pull(reference, options.auth ?? {}, options.signal);
    this.beginSync();
    return this.#require(id);
  }

  async load(path: string, options: { signal: AbortSignal; name?: string }): Promise<LoadedImage[]> {
    try {
      const loaded = await this.#loader.load(path, options);
      this.beginSync();
      return [...loaded].map(([id, names]) => ({ ...this.#require(id), names }));
    } finally {
      await this.#tidyUp('a loaded archive'); // the archive may contain blobs that no image needs
    }
  }

  async save(references: string[], path: string, options: { signal: AbortSignal }): Promise<void> {
    const { content, records } = this.#stores;
    const chosen = new Map<string, { image: StoredImage; names: string[] }>();
    for (const reference of references) {
      const image = this.#requireStored(reference);
      const names = chosen.get(image.id)?.names ?? [];
      const name = canonicalName(reference);
      const added = name !== undefined && image.repoTags.includes(name) ? [name] : image.repoTags;
      chosen.set(image.id, { image, names: [...new Set([...names, ...added])] });
    }
    using lease = this.#leases.open();
    for (const id of chosen.keys()) lease.hold(...records.needsOf(id));
    await saveImages([...chosen.values()], { path, content, signal: options.signal });
  }

  find(reference: string): ImageRecord | undefined {
    const image = this.#find(reference);
    return image === undefined ? undefined : this.#toRecord(image);
  }

  list(): ImageRecord[] {
    return this.#stores.records.list().map((image) => this.#toRecord(image));
  }

  async remove(reference: string): Promise<void> {
    this.#stores.records.remove(this.#requireStored(reference).id);
    await this.#tidyUp('a removed image');
  }

  async untag(reference: string): Promise<boolean> {
    const { records } = this.#stores;
    const name = canonicalName(reference) ?? reference;
    const image = records.list().find(({ repoTags, repoDigests }) => [...repoTags, ...repoDigests].includes(name));
    if (image === undefined) throw new PodwrightError('not_found', `untag image: no image has the name "${reference}"`);
    const removed = new Set(namesToRemove(image, name));
    const isLast = [...image.repoTags, ...image.repoDigests].every((own) => removed.has(own));
    if (isLast) await this.remove(image.id);
    else records.removeNames([...removed]);
    return isLast;
  }

  async clean(): Promise<void> {
    this.#failedPulls.close();
    await this.collectGarbage();
  }

  collectGarbage(): Promise<void> {
    return this.#collector.collect();
  }

  usage(): Promise<StorageUsage> {
    return this.#usage.read();
  }

  transfers(signal: AbortSignal): AsyncIterable<TransferProgress> {
    return this.#progress.subscribe(signal);
  }

  /** Starts syncing new images to disk in the background. */
  beginSync(): void {
    this.#sync.begin();
  }

  /** Aborts running pulls (with `cancelled`) and closes all connections to registries. */
  async close(): Promise<void> {
    await this.#puller.close();
    await this.#collector.close().catch(() => undefined); // the caller of `collect` gets the error
    this.#sync.close();
    this.#http.close();
  }

  /**
   * Collects garbage after an operation. A failure is only logged: it does not affect the operation's result, and a later collection will
   * remove the rest.
   */
  async #tidyUp(origin: string): Promise<void> {
    await this.collectGarbage().catch((error: unknown) => {
      this.#logger.warn({ error: errorMessage(error) }, `could not remove the leftovers of ${origin}`);
    });
  }

  /** Looks up an image by ID first, because most callers have the ID; otherwise searches all images. */
  #find(reference: string): StoredImage | undefined {
    const { records } = this.#stores;
    return records.get(reference) ?? findImage(records.list(), reference);
  }

  #toRecord({ chain: _chain, unsyncedBoot: _boot, ...image }: StoredImage): ImageRecord {
    return { ...image, pinned: this.#pinned.some((name) => findImage([image], name) !== undefined) };
  }

  #require(id: string): ImageRecord {
    return this.#toRecord(this.#requireStored(id));
  }

  #requireStored(reference: string): StoredImage {
    const image = this.#find(reference);
    if (image !== undefined) return image;
    throw new PodwrightError('not_found', `image "${reference}" not found; \`podwright images\` lists all images`);
  }
}
