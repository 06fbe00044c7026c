import { errorCode, errorMessage, isShortage, type Logger } from '@podwright/base';
import type { ContentStore } from '../content/content-store.ts';
import { manifestLimits } from '../limits.ts';
import type { Snapshotter } from '../snapshots/snapshotter.ts';
import { parseManifest } from '../spec/manifest.ts';
import type { ImageRecords, StoredImage } from './image-records.ts';
import { type LayerSnapshots, layerSteps, UNPACK_KEY_PREFIX } from './layer-snapshots.ts';

export type RecoverOptions = {
  content: ContentStore;
  layers: LayerSnapshots;
  snapshotter: Snapshotter;
  records: ImageRecords;
  logger: Logger;
  bootId: string;
  signal: AbortSignal;
};

/**
 * Reconciles records and snapshots at startup. Removes snapshots that a crash left partially unpacked. Re-unpacks an image from its
 * compressed layers if its snapshots are missing (a different snapshotter, a lost disk) or might have lost files in a power failure. Drops
 * an image if its layers are missing as well or its record is damaged. The next garbage collection removes the content of dropped images.
 */
export async function recoverImages(options: RecoverOptions): Promise<void> {
  const { snapshotter, layers, records, logger } = options;
  for (const { key, kind } of await snapshotter.list()) {
    if (kind === 'active' && key.startsWith(UNPACK_KEY_PREFIX)) await snapshotter.remove(key);
  }
  for (const { id, names, reason } of records.damaged()) {
    records.remove(id);
    logger.warn({ image: names[0] ?? id, id, error: reason }, 'dropped image, its record is damaged; pull it again');
  }
  await removeUnsynced(options);
  for (const image of records.list()) {
    const present = await Promise.all(image.chain.map((chainId) => layers.has(chainId)));
    if (present.every(Boolean)) continue;
    const fields = { image: image.repoTags[0] ?? image.id, id: image.id };
    try {
      await unpackAgain(image, options);
      records.markUnsynced(image.id);
      logger.info(fields, 'unpacked image again, as its snapshots were missing');
    } catch (error) {
      options.signal.throwIfAborted();
      if (errorCode(error) === 'resource_exhausted' || isShortage(error)) {
        logger.warn(
          { ...fields, error: errorMessage(error) },
          'not enough disk space to unpack an image again; free disk space and restart',
        );
        continue;
      }
      records.remove(image.id);
      logger.warn({ ...fields, error: errorMessage(error) }, 'dropped image, its snapshots are missing; pull it again');
    }
  }
}

/**
 * Removes the snapshots that were not synced to disk before the host went down, except those used by containers. Does so for all images
 * before unpacking any of them again, because a snapshot cannot be removed while another image's layer is built on it.
 */
async function removeUnsynced({ records, layers, bootId, logger }: RecoverOptions): Promise<void> {
  const isUnsynced = ({ unsyncedBoot }: StoredImage) => unsyncedBoot !== '' && unsyncedBoot !== bootId;
  const images = records.list();
  const intact = new Set(images.filter((image) => !isUnsynced(image)).flatMap(({ chain }) => chain));
  const unsynced = images.filter(isUnsynced).map(({ id, chain }) => {
    return { id, chain: chain.toReversed().filter((chainId) => !intact.has(chainId)) };
  });
  for (const { chain } of unsynced) for (const chainId of chain) await layers.removeIf(chainId, () => true);
  for (const { id, chain } of unsynced) {
    const present = await Promise.all(chain.map((chainId) => layers.has(chainId)));
    if (present.some(Boolean)) logger.warn({ id }, 'image may have lost files in a power cut');
  }
}

async function unpackAgain(image: StoredImage, { content, layers, signal }: RecoverOptions): Promise<void> {
  const data = await content.readSmall(image.manifestDigest, manifestLimits.manifestBytes);
  const manifest = parseManifest(data, '', `manifest ${image.manifestDigest}`);
  if (manifest.kind !== 'manifest') return;
  for (const step of layerSteps(manifest.layers, image.config.rootfs.diff_ids)) await layers.unpack(step, signal);
}
