import { statfs } from 'node:fs/promises';
import { errorMessage, isNotFound, type Logger } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import {
  bytesToFree,
  type DiskUsage,
  type ImageGcPolicy,
  type ImageRecord,
  imagesTooOld,
  imagesToRemove,
} from './image-garbage.ts';

/** Removes unused images when the image file system fills up. Remembers when each image was last used. */
export class ImageGarbageCollector {
  readonly #cri: CriClient;
  readonly #policy: ImageGcPolicy;
  readonly #logger: Logger;
  #records = new Map<string, ImageRecord>();

  constructor({ cri, policy, logger }: { cri: CriClient; policy: ImageGcPolicy; logger: Logger }) {
    this.#cri = cri;
    this.#policy = policy;
    this.#logger = logger;
  }

  async run(): Promise<void> {
    const nowMs = Date.now();
    const inUse = await this.#detect(nowMs);
    const { maxAgeMs } = this.#policy;
    for (const id of imagesTooOld([...this.#records.values()], { inUse, maxAgeMs, nowMs }))
      await this.#remove(id, 'removing an image that was not used for long');
    const usage = await this.#diskUsage();
    const bytes = usage === undefined ? 0n : bytesToFree(usage, this.#policy);
    if (bytes === 0n) return;
    for (const id of await this.#mountedImages()) inUse.add(id);
    const choice = { inUse, minAgeMs: this.#policy.minAgeMs, nowMs };
    for (const id of imagesToRemove([...this.#records.values()], bytes, choice))
      await this.#remove(id, 'removing an unused image: the disk is filling up');
  }

  async #remove(id: string, why: string): Promise<void> {
    this.#logger.info({ image: id }, why);
    try {
      await this.#cri.image.removeImage({ image: { image: id } });
      this.#records.delete(id);
    } catch (error) {
      this.#logger.warn({ image: id, error: errorMessage(error) }, 'the image could not be removed');
    }
  }

  /** Takes stock of images; returns the ids of those that a container was made from. */
  async #detect(nowMs: number): Promise<Set<string>> {
    const [{ images }, { containers }] = await Promise.all([
      this.#cri.image.listImages({}),
      this.#cri.runtime.listContainers({}),
    ]);
    const refs = new Set(containers.flatMap(({ imageRef, imageId, image }) => [imageRef, imageId, image?.image ?? '']));
    const used = images.filter(({ id, repoTags, repoDigests }) =>
      [id, ...repoTags, ...repoDigests].some((name) => refs.has(name)),
    );
    const inUse = new Set(used.map(({ id }) => id));
    const records = images.map(({ id, size, pinned }): [string, ImageRecord] => {
      const known = this.#records.get(id);
      const firstSeenMs = known?.firstSeenMs ?? nowMs;
      const lastUsedMs = inUse.has(id) ? nowMs : (known?.lastUsedMs ?? 0);
      return [id, { id, sizeBytes: size, pinned, firstSeenMs, lastUsedMs }];
    });
    this.#records = new Map(records);
    return inUse;
  }

  /** Images that are volumes of containers. */
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
