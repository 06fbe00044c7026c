import { closeSync, openSync } from 'node:fs';
import { PodwrightError } from '@podwright/base';
import type { ImageRecord } from '@podwright/images';
import type { MappedUsers } from '@podwright/system';
import type { ContainerRecord } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { hostPathOf } from './container-mounts.ts';
import type { ContainerContext } from './container-service.ts';
import { checkKernelFolders, checkMountPath } from './kernel-paths.ts';
import { requireImage } from './require-image.ts';

/** A container on its way: its record, where it goes, what it is made from. */
export type NewContainer = { record: ContainerRecord; sandbox: SandboxRecord; image: ImageRecord };

/** Makes the root file system, the volumes, the images' mounts and those with mapped ids, and tries the specification once. */
export async function makeFiles(
  context: ContainerContext,
  made: NewContainer,
  signal: AbortSignal,
): Promise<ContainerRecord['user']> {
  const { specs } = context;
  const { record, sandbox, image } = made;
  await withUsersOf(context, sandbox, (users) => makeMounts(context, made, { users, signal }));
  const user = await specs.resolveUser(record, image);
  await specs.build({ ...record, user }, sandbox, signal);
  return user;
}

async function makeMounts(
  context: ContainerContext,
  { record, image }: NewContainer,
  { users, signal }: { users: MappedUsers | undefined; signal: AbortSignal },
): Promise<void> {
  const { files, specs, failpoint, images } = context;
  await files.prepareRootfs(record.id, image, users);
  await failpoint('container-create/rootfs-mounted');
  await checkPaths(context, { record, image });
  const imageMounts = record.config.mounts.filter((mount) => mount.image !== '');
  for (const [index, mount] of imageMounts.entries()) {
    if (!mount.readonly) {
      throw new PodwrightError(
        'invalid_argument',
        `mount image ${mount.image} at ${mount.containerPath}: it can be read-only only`,
      );
    }
    const content = { image: requireImage(images, mount.image), subPath: mount.imageSubPath, users };
    await files.mountImage(record.id, index, content);
  }
  await files.makeVolumes(record.id, { paths: specs.imageVolumes(record), users, signal });
  for (const [index, mount] of record.config.mounts.entries()) {
    if (mount.mappings === undefined || users === undefined) continue;
    const propagation = mount.propagation === 'private' ? 'private' : 'slave';
    await files.mountMapped(record.id, index, { source: await hostPathOf(mount), users, propagation });
  }
}

/** What the image and the mounts say of the kernel's own places is looked at before anything is made after it. */
async function checkPaths(
  { files, specs }: ContainerContext,
  { record, image }: Pick<NewContainer, 'record' | 'image'>,
): Promise<void> {
  const rootfs = files.rootfs(record.id);
  await checkKernelFolders(rootfs, image.id);
  const asked = record.config.mounts.map((mount) => ({ path: mount.containerPath, source: mount.hostPath }));
  const volumes = specs.imageVolumes(record).map((path) => ({ path, source: undefined }));
  await Promise.all([...asked, ...volumes].map(({ path, source }) => checkMountPath(rootfs, path, source)));
}

/** Calls `work` with the pod's user namespace, if it has one of its own. */
async function withUsersOf(
  { controllers }: ContainerContext,
  sandbox: SandboxRecord,
  work: (users: MappedUsers | undefined) => Promise<void>,
): Promise<void> {
  const mappings = sandbox.config.userNamespace;
  if (mappings === undefined) return work(undefined);
  const path = controllers.of(sandbox).environment(sandbox).namespaces.user;
  if (path === undefined) {
    throw new PodwrightError(
      'failed_precondition',
      `make a root file system in sandbox ${sandbox.id}: its sandbox controller makes no user namespaces`,
    );
  }
  const descriptor = openSync(path, 'r');
  try {
    await work({ descriptor, mappings });
  } finally {
    closeSync(descriptor);
  }
}
