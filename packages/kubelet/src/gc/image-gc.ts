import { statfs } from 'node:fs/promises';
import { Counter, errorMessage, isNotFound, type Logger, type Registry } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { Pod } from '@podwright/kube-api';
import {
  bytesToFree,
  type DiskUsage,
  type ImageGcPolicy,
  type ImageRecord,
  imagesTooOld,
  imagesToRemove,
  tooLittleFreed,
} from './image-garbage.ts';
import { imagesOfPods } from './pod-images.ts';

export type ImageGcInput = {
  cri: CriClient;
  policy: ImageGcPolicy;
  logger: Logger;
  /** Admitted pods that have not terminated. Their images are in use even before their containers are created. */
  pods: () => Pod[];
  /** Emits a warning event about the node. */
  warn: (reason: string, message: string) => void;
  /** Called after each collection with the IDs of the remaining images, to delete the pull records of all others. */
  forgetImages: (imageIds: string[], atMs: number) => Promise<void>;
  metrics?: Registry;
};

/** More bytes than any disk can hold. Freeing this many removes every image that may be removed. */
const NO_END = 2n ** 63n;

/** Removes unused images when the image file system fills up. Tracks when each image was last used. */
export class ImageGarbageCollector {
  readonly #input: ImageGcInput;
  readonly #cri: CriClient;
  readonly #policy: ImageGcPolicy;
  readonly #removed: Counter<'reason'> | undefined;
  #records = new Map<string, ImageRecord>();
  #failedBefore = false;
  #existedAtStart = new Set<string>();

  constructor(input: ImageGcInput) {
    this.#input = input;
    this.#cri = input.cri;
    this.#policy = input.policy;
    this.#removed =
      input.metrics &&
      new Counter({
        name: 'kubelet_image_garbage_collected_total',
        help: 'Total number of images garbage collected by the kubelet, whether through disk usage or image age.',
        labelNames: ['reason'],
        registers: [input.metrics],
      });
  }

  /**
   * Removes unused images older than the maximum age, and more unused images if the disk is too full. Rejects if the images or the disk
   * usage cannot be read, or if too little was freed. From the second consecutive failure on, also emits an event.
   */
  async run(): Promise<void> {
    try {
      await this.#collect();
      this.#failedBefore = false;
    } catch (error) {
      if (this.#failedBefore) this.#input.warn('ImageGCFailed', errorMessage(error));
      this.#failedBefore = true;
      throw error;
    }
  }

  /** Must be called when the kubelet starts. Images that exist at that point are exempt from the minimum age (upstream's detectImages). */
  async begin(): Promise<void> {
    const { images } = await this.#cri.image.listImages({});
    this.#existedAtStart = new Set(images.map(({ id }) => id));
  }

  /** Removes every unused image older than the minimum age. Rejects if the images cannot be listed. */
  async removeUnused(): Promise<void> {
    const nowMs = Date.now();
    const inUse = await this.#inUse(nowMs);
    await this.#free(NO_END, inUse, nowMs);
    await this.#input.forgetImages([...this.#records.keys()], nowMs);
  }

  async #collect(): Promise<void> {
    const nowMs = Date.now();
    const inUse = await this.#inUse(nowMs);
    const { maxAgeMs } = this.#policy;
    for (const id of imagesTooOld([...this.#records.values()], { inUse, maxAgeMs, nowMs }))
      await this.#remove(id, 'age');
    const usage = await this.#diskUsage();
    const wanted = usage === undefined ? 0n : bytesToFree(usage, this.#policy);
    const freed = wanted === 0n ? 0n : await this.#free(wanted, inUse, nowMs);
    await this.#input.forgetImages([...this.#records.keys()], nowMs);
    if (freed >= wanted) return;
    const message = tooLittleFreed(usage!, freed);
    this.#input.warn('FreeDiskSpaceFailed', message);
    throw new Error(message);
  }

  async #inUse(nowMs: number): Promise<Set<string>> {
    const needed = await Promise.all([this.#mountedImages(), imagesOfPods(this.#input.pods(), this.#cri)]);
    return this.#detect(new Set(needed.flat()), nowMs);
  }

  async #free(bytes: bigint, inUse: ReadonlySet<string>, nowMs: number): Promise<bigint> {
    let freed = 0n;
    const choice = { inUse, minAgeMs: this.#policy.minAgeMs, nowMs };
    const records = [...this.#records.values()].map((one) =>
      this.#existedAtStart.has(one.id) ? { ...one, firstSeenMs: 0 } : one,
    );
    for (const id of imagesToRemove(records, bytes, choice)) {
      const size = this.#records.get(id)!.sizeBytes;
      if (await this.#remove(id, 'space')) freed += size;
    }
    return freed;
  }

  async #remove(id: string, reason: 'age' | 'space'): Promise<boolean> {
    const why = { age: 'it was not used for a long time', space: 'the disk is filling up' };
    this.#input.logger.info({ image: id }, `removing an unused image: ${why[reason]}`);
    try {
      await this.#cri.image.removeImage({ image: { image: id } });
      this.#records.delete(id);
      this.#existedAtStart.delete(id);
      this.#removed?.inc({ reason });
      return true;
    } catch (error) {
      this.#input.logger.warn({ image: id, error: errorMessage(error) }, 'the image could not be removed');
      return false;
    }
  }

  /** Updates the image records. Returns the IDs of the images in use: those in `needed` and those of containers. */
  async #detect(needed: ReadonlySet<string>, nowMs: number): Promise<Set<string>> {
    const [{ images }, { containers }] = await Promise.all([
      this.#cri.image.listImages({}),
      this.#cri.runtime.listContainers({}),
    ]);
    const refs = new Set(containers.flatMap(({ imageRef, imageId, image }) => [imageRef, imageId, image?.image ?? '']));
    const used = images.filter(({ id, repoTags, repoDigests }) =>
      [id, ...repoTags, ...repoDigests].some((name) => refs.has(name)),
    );
    const inUse = new Set([...needed, ...used.map(({ id }) => id)]);
    const records = images.map(({ id, size, pinned }): [string, ImageRecord] => {
      const known = this.#records.get(id);
      const firstSeenMs = known?.firstSeenMs ?? nowMs;
      const lastUsedMs = inUse.has(id) ? nowMs : (known?.lastUsedMs ?? 0);
      return [id, { id, sizeBytes: size, pinned, firstSeenMs, lastUsedMs }];
    });
    this.#records = new Map(records);
    this.#existedAtStart = new Set([...this.#existedAtStart].filter((id) => this.#records.has(id)));
    return inUse;
  }

  /** Returns the IDs of images mounted as volumes by containers. */
  async #mountedImages(): Promise<string[]> {
    const { containers } = await this.#cri.runtime.listContainers({});
    const statuses = await Promise.all(
      containers.map(async ({ id }) => {
        try {
          return (await this.#cri.runtime.containerStatus({ containerId: id })).status;
        } catch (error) {
          if (isNotFound(error)) return undefined;
          throw error;
        }
      }),
    );
    return statuses.flatMap((status) => status?.mounts ?? []).flatMap(({ image }) => (image ? [image.image] : []));
  }

  async #diskUsage(): Promise<DiskUsage | undefined> {
    const { imageFilesystems } = await this.#cri.image.imageFsInfo({});
    const path = imageFilesystems[0]?.fsId?.mountpoint;
    if (path === undefined || path === '') return undefined;
    const stats = await statfs(path, { bigint: true });
    return { capacityBytes: stats.blocks * stats.bsize, availableBytes: stats.bavail * stats.bsize };
  }
}
