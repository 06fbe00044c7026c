import { closeSync, openSync } from 'node:fs';
import { PodwrightError } from '@podwright/base';
import type { ImageRecord, ImageService } from '@podwright/images';
import type { MappedUsers } from '@podwright/system';
import type { ContainerRecord } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { ContainerContext } from './container-context.ts';
import { checkKernelDirectories } from './kernel-paths.ts';
import { hostPathOf, imageVolumes } from './resolve-mounts.ts';

/** A container that is being created, with its record, sandbox and image. */
export type NewContainer = { record: ContainerRecord; sandbox: SandboxRecord; image: ImageRecord };

/** Dependencies for preparing a container's file system. */
export type FilesystemContext = Pick<ContainerContext, 'files' | 'images' | 'controllers' | 'failpoint' | 'trace'>;

/** Creates a container's root file system, image volumes, image mounts and ID-mapped mounts. */
export function prepareFilesystem(context: FilesystemContext, made: NewContainer, signal: AbortSignal): Promise<void> {
  return withUsersOf(context, made.sandbox, (users) => makeMounts(context, made, { users, signal }));
}

/** Returns the image with this reference or ID. Throws `not_found` if it has not been pulled. */
export function requireImage(images: Pick<ImageService, 'find'>, reference: string): ImageRecord {
  const image = images.find(reference);
  if (image === undefined) throw new PodwrightError('not_found', `image "${reference}" not found; pull it first`);
  return image;
}

async function makeMounts(
  context: FilesystemContext,
  { record, image }: NewContainer,
  { users, signal }: { users: MappedUsers | undefined; signal: AbortSignal },
): Promise<void> {
  const { files, failpoint, images, trace } = context;
  await trace('snapshot and mount', () => files.prepareRootfs(record.id, image, users));
  await failpoint('container-create/rootfs-mounted');
  await checkKernelDirectories(files.rootfs(record.id), image.id);
  const imageMounts = record.config.mounts.filter((mount) => mount.image !== '');
  for (const [index, mount] of imageMounts.entries()) {
    if (!mount.readonly) {
      throw new PodwrightError(
        'invalid_argument',
        `mount image ${mount.image} at ${mount.containerPath}: image mounts must be read-only`,
      );
    }
    const content = { image: requireImage(images, mount.image), subPath: mount.imageSubPath, users };
    await trace(`mount image ${mount.image}`, () => files.mountImage(record.id, index, content));
  }
  await files.makeVolumes(record.id, { paths: imageVolumes(record), users, signal });
  for (const [index, mount] of record.config.mounts.entries()) {
    if (mount.image !== '' || mount.mappings === undefined || users === undefined) continue; // image mounts are mapped already
    const propagation = mount.propagation === 'private' ? 'private' : 'slave';
    await files.mountMapped(record.id, index, { source: await hostPathOf(mount), users, propagation });
  }
}

/** Calls `work` with the pod's user namespace, or with `undefined` if the pod uses the host's. */
async function withUsersOf(
  { controllers }: Pick<FilesystemContext, 'controllers'>,
  sandbox: SandboxRecord,
  work: (users: MappedUsers | undefined) => Promise<void>,
): Promise<void> {
  const mappings = sandbox.config.userNamespace;
  if (mappings === undefined) return work(undefined);
  const path = controllers.of(sandbox).environment(sandbox).namespaces.user;
  if (path === undefined) {
    throw new PodwrightError(
      'failed_precondition',
      `make a root file system in sandbox ${sandbox.id}: its sandbox controller does not support user namespaces`,
    );
  }
  const descriptor = openSync(path, 'r');
  try {
    await work({ descriptor, mappings });
  } finally {
    closeSync(descriptor);
  }
}
