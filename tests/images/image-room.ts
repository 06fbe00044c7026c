import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { silentLogger } from '@podwright/base';
import { createImageService, type ImageServiceOptions, type Images } from '../../packages/images/src/images.ts';
import { openSnapshotter } from '../../packages/images/src/snapshots/open-snapshotter.ts';
import type { Snapshotter } from '../../packages/images/src/snapshots/snapshotter.ts';
import { LayerUnpacker } from '../../packages/images/src/unpack/unpack-layer.ts';
import { openDatabase } from '../../packages/metadata/src/database.ts';
import type { MetadataDatabase } from '../../packages/metadata/src/metadata-database.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { FaultyRegistry } from './faulty-registry.ts';

export type ImageRoom = {
  images: Images;
  database: MetadataDatabase;
  snapshotter: Snapshotter;
  root: string;
} & AsyncDisposable;

/** Fast retries, so that permanent failures surface within a test's time limit. */
export const quickRetries = { initialDelayMs: 1, maxDelayMs: 5, maxFailures: 2, maxFailuresInAll: 20 };

/**
 * Creates a directory under /var/tmp, because overlayfs does not work on overlayfs or, with some kernels, on tmpfs. Removed after the test.
 */
export async function scratch(t: TestContext): Promise<string> {
  const directory = await mkdtemp('/var/tmp/podwright-images-');
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * Opens an image service with real components (database, snapshotter, unpacker) under `root`. Reopening it after disposal simulates a
 * restart.
 */
export async function openImageRoom(
  root: string,
  options: Partial<ImageServiceOptions> & { kind?: 'auto' | 'native' } = {},
): Promise<ImageRoom> {
  await mkdir(root, { recursive: true });
  const system = loadSystem();
  const database = openDatabase(join(root, 'records.db'));
  const { kind = 'auto', ...more } = options;
  const snapshots = { root: join(root, 'snapshots'), database, system, logger: silentLogger };
  const { snapshotter } = openSnapshotter({ kind, ...snapshots });
  const unpacker = new LayerUnpacker({ system });
  const images = await createImageService({
    root,
    database,
    snapshotter,
    unpackLayer: unpacker.unpackLayer,
    registryConfigDir: join(root, 'certs.d'),
    logger: silentLogger,
    arch: process.arch,
    retryPolicy: quickRetries,
    environment: {},
    ...more,
  });
  const close = async () => {
    await images.close();
    await unpacker[Symbol.asyncDispose]();
    await snapshotter.close();
    database.close();
  };
  let closed: Promise<void> | undefined;
  const closeOnce = () => {
    closed ??= close();
    return closed;
  };
  return { images, database, snapshotter, root, [Symbol.asyncDispose]: closeOnce };
}

/** Opens an image service and a registry, both closed when the test ends. */
export async function openRoomWithRegistry(
  t: TestContext,
  options: Partial<ImageServiceOptions> = {},
): Promise<{ registry: FaultyRegistry; room: ImageRoom }> {
  const registry = await FaultyRegistry.start();
  const room = await openImageRoom(await scratch(t), options);
  t.after(async () => {
    await room[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
  });
  return { registry, room };
}
