/** The file systems of images and container layers, as reported by the container runtime. */
import { CachedReading, ignoreFailure, type Logger } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { LEAST_USAGE_WINDOW_MS } from '../usage/limits.ts';
import { fileSystemOf } from './file-system-use.ts';
import { inTime } from './in-time.ts';
import { STATISTICS_CACHE } from './limits.ts';
import type { MeasuredPod } from './pod-stats.ts';
import type { FsStats, NodeStats } from './summary.ts';

/** How long the first disk measurement waits for the container runtime to report where its writable layers are. */
const IMAGES_MS = 1000;

export class ImageFileSystems {
  readonly #cri: Pick<CriClient, 'image'>;
  readonly #logger: Logger;
  #layersDirectory = '';
  readonly #images = new CachedReading(() => this.#read(), STATISTICS_CACHE);

  constructor({ cri, logger }: { cri: Pick<CriClient, 'image'>; logger: Logger }) {
    this.#cri = cri;
    this.#logger = logger;
  }

  /** Returns the statistics of the file systems, cached for ten seconds. Rejects with the container runtime's error. */
  get(): Promise<NodeStats['runtime']> {
    return this.#images.get((_, ageMs) => ageMs < LEAST_USAGE_WINDOW_MS);
  }

  /** A directory on the disk that holds container layers; '' until the container runtime has reported one. */
  get layersDirectory(): string {
    return this.#layersDirectory;
  }

  /**
   * Asks the container runtime for the directory of layers. If the directory is still unknown, waits for the response, but only for a
   * limited time.
   */
  async findLayers(): Promise<void> {
    const images = this.#images.get(() => true);
    if (this.#layersDirectory === '') await inTime(images, AbortSignal.timeout(IMAGES_MS), this.#logger);
    else ignoreFailure(images, 'the directory is known');
  }

  async #read(): Promise<NodeStats['runtime']> {
    const { imageFilesystems, containerFilesystems } = await this.#cri.image.imageFsInfo({});
    this.#layersDirectory = (containerFilesystems[0] ?? imageFilesystems[0])?.fsId?.mountpoint ?? '';
    const [image, container = image] = await Promise.all(
      [imageFilesystems[0], containerFilesystems[0]].map(async (one) => {
        if (one === undefined) return undefined;
        const fileSystem = await reportedFileSystem(one.fsId?.mountpoint ?? '');
        const [usedBytes, inodesUsed] = [one.usedBytes?.value, one.inodesUsed?.value];
        return (
          fileSystem && { ...fileSystem, usedBytes: Number(usedBytes ?? 0n), inodesUsed: Number(inodesUsed ?? 0n) }
        );
      }),
    );
    return { imageFs: image, containerFs: container };
  }
}

/** Returns statistics of the file systems that contain the pods' writable layers, by mount point. */
export async function layerFileSystems(pods: readonly MeasuredPod[]): Promise<Map<string, FsStats>> {
  const all = pods.flatMap(({ use }) => use.containers.map(({ writableLayer }) => writableLayer?.fsId?.mountpoint));
  const layers = new Map<string, FsStats>();
  for (const mountpoint of new Set(all)) {
    const stats = await reportedFileSystem(mountpoint ?? '');
    if (stats !== undefined) layers.set(mountpoint!, stats);
  }
  return layers;
}

/**
 * Returns the stats of the file system at a path reported by the container runtime. `undefined` if they cannot be read, for example because
 * the path does not exist in this process's mount namespace.
 */
async function reportedFileSystem(mountpoint: string): Promise<FsStats | undefined> {
  return mountpoint === '' ? undefined : await fileSystemOf(mountpoint).catch(() => undefined);
}
