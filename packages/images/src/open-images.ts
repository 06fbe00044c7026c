import { join } from 'node:path';
import { describeUndoFailures, PodwrightError, silentLogger, Undo } from '@podwright/base';
import { openDatabase } from '@podwright/metadata';
import { loadSystem, lockDirectory } from '@podwright/system';
import { createImageService, type ImageServiceOptions, type Images } from './images.ts';
import { openSnapshotter, type SnapshotterOptions } from './snapshots/open-snapshotter.ts';
import type { Snapshotter } from './snapshots/snapshotter.ts';
import { LayerUnpacker } from './unpack/unpack-layer.ts';

/** All but `root` may be left out. */
export type OpenImagesOptions = Partial<
  Omit<ImageServiceOptions, 'database' | 'snapshotter' | 'unpackLayer' | 'prepareUnpacking'>
> & {
  /** Directory of the store, on a real file system: overlayfs cannot lie on another overlayfs, nor on tmpfs everywhere. */
  root: string;
  /** How layers are kept: overlayfs where it works, else full copies. */
  snapshotterKind?: SnapshotterOptions['kind'];
};

/** An image store that stands alone. Disposing of it ends what runs, and leaves the images on the disk. */
export type ImageStore = { images: Images; snapshotter: Snapshotter } & AsyncDisposable;

/**
 * Opens the image store in a directory, which is made if need be: records, snapshots, unpacking threads and images. It is for one
 * process at a time, and needs root, as layers have owners and devices. What a crash left is repaired first.
 * Errors: `already_exists` (the store is open already), `data_loss` (the records are damaged), `failed_precondition` (they are of a
 * newer version, or overlayfs was asked for and does not work).
 */
export async function openImages({ snapshotterKind = 'auto', ...options }: OpenImagesOptions): Promise<ImageStore> {
  const { root, logger = silentLogger, registryConfigDir = join(root, 'certs.d') } = options;
  const parts = new Undo();
  try {
    // two openers would collect what the other one is just pulling
    const isOpen = `open the images in ${root}: they are open already; close them first`;
    parts.add('unlock the directory', lockDirectory(root, isOpen));
    const system = loadSystem();
    const database = openDatabase(join(root, 'records.db'));
    parts.add('close the records', () => void database.close());
    const place = { root: join(root, 'snapshots'), database, system, logger };
    const { snapshotter } = openSnapshotter({ kind: snapshotterKind, ...place });
    parts.add('close the snapshotter', () => snapshotter.close());
    const unpacker = new LayerUnpacker({ system });
    parts.add('end the unpacking threads', () => unpacker[Symbol.asyncDispose]());
    const { unpackLayer, prepare: prepareUnpacking } = unpacker;
    const shared = { database, snapshotter, unpackLayer, prepareUnpacking, logger, registryConfigDir };
    const images = await createImageService({ ...options, ...shared });
    parts.add('close the images', () => images.close());
    return { images, snapshotter, [Symbol.asyncDispose]: () => closeAll(parts) };
  } catch (error) {
    await parts.run();
    throw error;
  }
}

async function closeAll(parts: Undo): Promise<void> {
  const failures = await parts.run();
  if (failures.length > 0) throw new PodwrightError('internal', `close the images: ${describeUndoFailures(failures)}`);
}
