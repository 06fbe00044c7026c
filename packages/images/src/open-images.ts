import { join } from 'node:path';
import { describeUndoFailures, PodwrightError, silentLogger, Undo } from '@podwright/base';
import { openDatabase } from '@podwright/metadata';
import { loadSystem, lockDirectory } from '@podwright/system';
import { createImageService, type ImageServiceOptions, type Images } from './images.ts';
import { openSnapshotter, type SnapshotterOptions } from './snapshots/open-snapshotter.ts';
import type { Snapshotter } from './snapshots/snapshotter.ts';
import { LayerUnpacker } from './unpack/unpack-layer.ts';

/** All options except `root` are optional. */
export type OpenImagesOptions = Partial<
  Omit<ImageServiceOptions, 'database' | 'snapshotter' | 'unpackLayer' | 'prepareUnpacking'>
> & {
  /** Directory of the store. For overlayfs, it must not itself be on overlayfs or, with some kernels, on tmpfs. */
  root: string;
  /** The snapshotter. Default `auto`: overlayfs if it works on `root`, otherwise full copies. */
  snapshotterKind?: SnapshotterOptions['kind'];
};

/** A standalone image store. Disposing it aborts running work and closes the store; the images stay on disk. */
export type ImageStore = { images: Images; snapshotter: Snapshotter } & AsyncDisposable;

/**
 * Opens the image store in a directory, creating it if necessary and repairing any damage from a crash. Only one process can have it open
 * at a time. Requires root, because layers contain file owners and devices. Errors: `already_exists` (the store is already open),
 * `data_loss` (the records are damaged), `failed_precondition` (a newer version wrote the records, or `overlayfs` was requested and does
 * not work).
 */
export async function openImages({ snapshotterKind = 'auto', ...options }: OpenImagesOptions): Promise<ImageStore> {
  const { root, logger = silentLogger, registryConfigDir = join(root, 'certs.d') } = options;
  const parts = new Undo();
  try {
    // lock the directory: two processes would delete each other's content during pulls
    const isOpen = `open the images in ${root}: they are open already; close them first`;
    parts.add('unlock the directory', lockDirectory(root, isOpen));
    const system = loadSystem();
    const database = openDatabase(join(root, 'records.db'));
    parts.add('close the records', () => void database.close());
    const snapshotterRoot = join(root, 'snapshots');
    const { snapshotter } = openSnapshotter({ kind: snapshotterKind, root: snapshotterRoot, database, system, logger });
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
