import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CONTAINER_DIRECTORY, isNotFound, PRIVATE_DIRECTORY, wrapError } from '@podwright/base';
import type { ImageRecord, ImageService, Snapshotter } from '@podwright/images';
import type { ResolvedUser, UserRequest } from '@podwright/oci';
import { computeArgs, computeEnvironment, computeWorkingDirectory } from '@podwright/oci';
import { grantTraversal, mountAll, resolveInRoot, type System } from '@podwright/system';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { InfraRoots } from './infra-roots.ts';
import { INFRA_DIRECTORIES, type InfraProgram } from './infra-spec.ts';
import type { SandboxDirectories } from './sandbox-directories.ts';

export type ImageInfraRootsDependencies = {
  system: System;
  images: ImageService;
  snapshotter: Snapshotter;
  directories: SandboxDirectories;
  /** Looks up a user in a root file system. */
  resolveUser: (rootfs: string, request: UserRequest) => Promise<ResolvedUser>;
  /** Returns the reference of the image used for a runtime handler's sandboxes; '' if they use none. */
  imageFor: (handler: string) => string;
  /** Provides the root file systems of sandboxes that use no image. */
  withoutImage: InfraRoots;
};

const KEY_PREFIX = 'sandbox-';

/**
 * Provides root file systems from images, such as the `pause` image. Each one is mounted at `rootfs` in the sandbox's directory, from a
 * snapshot named `sandbox-<id>`, which protects the image's layers from garbage collection.
 */
export class ImageInfraRoots implements InfraRoots {
  readonly #dependencies: ImageInfraRootsDependencies;

  constructor(dependencies: ImageInfraRootsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Prepares a sandbox's root file system, pulling the image if it is missing. Throws the errors of `ImageService.pull`. */
  async prepare(sandbox: SandboxRecord, signal: AbortSignal): Promise<InfraProgram> {
    const { imageFor, withoutImage, images } = this.#dependencies;
    const reference = imageFor(sandbox.config.runtimeHandler);
    if (reference === '') return withoutImage.prepare(sandbox, signal);
    try {
      const image = images.find(reference) ?? (await images.pull(reference, { signal }));
      return await this.#mount(sandbox, image);
    } catch (error) {
      throw wrapError(`use image ${reference} for the pod's infra process`, error);
    }
  }

  async #mount(sandbox: SandboxRecord, { chainId, config: { config } }: ImageRecord): Promise<InfraProgram> {
    const { system, snapshotter, directories, resolveUser } = this.#dependencies;
    const directory = directories.path(sandbox.id);
    const mappings = sandbox.config.userNamespace;
    if (mappings !== undefined) grantTraversal({ top: dirname(dirname(directory)), directory, mappings });
    const root = join(directory, 'rootfs');
    // writable, because these images contain no directories, so the mount points have to be created
    const mounts = await snapshotter.prepare(KEY_PREFIX + sandbox.id, chainId);
    await mkdir(root, { mode: PRIVATE_DIRECTORY });
    mountAll(system, mounts, root);
    for (const name of INFRA_DIRECTORIES)
      await mkdir(await resolveInRoot(root, name), { recursive: true, mode: CONTAINER_DIRECTORY });
    return {
      root,
      args: computeArgs({ command: [], args: [] }, config),
      env: computeEnvironment({ image: config, hostname: '', terminal: false, requested: [] }),
      cwd: computeWorkingDirectory('', config),
      user: await resolveUser(root, { user: config.User ?? '', supplementalGroups: [], groupsPolicy: 'merge' }),
    };
  }

  async remove(sandboxId: string): Promise<void> {
    const { snapshotter, withoutImage } = this.#dependencies;
    await withoutImage.remove(sandboxId);
    await snapshotter.remove(KEY_PREFIX + sandboxId).catch((error) => {
      if (!isNotFound(error)) throw error;
    });
  }

  async list(): Promise<string[]> {
    const { snapshotter, withoutImage } = this.#dependencies;
    const keys = (await snapshotter.list()).map(({ key }) => key);
    const own = keys.filter((key) => key.startsWith(KEY_PREFIX)).map((key) => key.slice(KEY_PREFIX.length));
    return [...(await withoutImage.list()), ...own];
  }
}
