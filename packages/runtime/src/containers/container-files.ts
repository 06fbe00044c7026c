import { type Dirent, mkdirSync } from 'node:fs';
import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  CONTAINER_DIRECTORY,
  isErrno,
  isNotFound,
  makePrivateDirectory,
  PRIVATE_DIRECTORY,
  wrapError,
} from '@podwright/base';
import type { Trash } from '@podwright/host';
import type { ImageRecord, Snapshotter, UnpackTarget } from '@podwright/images';
import type { OciSpec } from '@podwright/oci';
import {
  bindIdMapped,
  chownToMappedIds,
  grantTraversal,
  type IdMappings,
  type MappedUsers,
  type Mount,
  mountAllAsync,
  mountAllIdMapped,
  resolveInRoot,
  type System,
  unmountEntries,
} from '@podwright/system';
import { commitSpec, readSpec, readSpecText } from '../tasks/bundle.ts';
import { fillVolume } from './image-volumes.ts';

/**
 * Dependencies of `ContainerFiles`. `root` and `state` are the container runtime's directories (`RuntimeOptions`). `trash` deletes
 * directories under `root`, `stateTrash` those under `state`.
 */
export type ContainerFilesDependencies = {
  system: System;
  snapshotter: Snapshotter;
  trash: Trash;
  stateTrash: Trash;
  root: string;
  state: string;
};

/**
 * An image directory to be mounted. `subPath`: the directory's path in the image; '' means the image's root. `users`: if set, the mount is
 * ID-mapped.
 */
export type ImageMount = { image: ImageRecord; subPath: string; users?: MappedUsers };

/**
 * The volumes that an image declares at `paths`. `users`: if set, the volumes are owned by the root user of these mappings. `signal` aborts
 * the copy.
 */
export type ImageVolumes = { paths: string[]; users?: MappedUsers; signal: AbortSignal };

/** Input for an ID-mapped mount of a host path. `users`: the ID mappings. */
export type MappedMount = { source: string; users: MappedUsers; propagation: 'private' | 'slave' };

const KEY_PREFIX = 'container-';

/** Subdirectories of the state directory that hold containers' mounts and bundles. */
export const CONTAINER_STATE = ['containers', 'tasks'] as const;

/**
 * Manages containers' snapshots, mounts and directories, all named after the container ID: `<state>/containers/<id>` with the mounts
 * `rootfs`, `image-N` and `mapped-N`; `<state>/tasks/<id>` (the bundle); `<root>/containers/<id>` with the volumes declared by the image;
 * and snapshots named `container-<id>…`.
 */
export class ContainerFiles {
  readonly #dependencies: ContainerFilesDependencies;
  readonly #mounts: string;
  readonly #tasks: string;
  readonly #volumes: string;

  private constructor(dependencies: ContainerFilesDependencies) {
    this.#dependencies = dependencies;
    const [mounts, tasks] = CONTAINER_STATE;
    this.#mounts = join(dependencies.state, mounts);
    this.#tasks = join(dependencies.state, tasks);
    this.#volumes = join(dependencies.root, 'containers');
  }

  /** Creates the parent directories shared by all containers. */
  static open(dependencies: ContainerFilesDependencies): ContainerFiles {
    const files = new ContainerFiles(dependencies);
    for (const directory of [files.#mounts, files.#tasks, files.#volumes]) makePrivateDirectory(directory);
    return files;
  }

  rootfs(id: string): string {
    return join(this.#mounts, id, 'rootfs');
  }

  bundle(id: string): string {
    return join(this.#tasks, id);
  }

  /** Saves the OCI spec used to start the container. */
  commitSpec(id: string, spec: OciSpec): void {
    commitSpec(this.bundle(id), spec);
  }

  /** Returns the saved OCI spec; `undefined` before `commitSpec`. */
  spec(id: string): OciSpec | undefined {
    return readSpec(this.bundle(id));
  }

  /** Returns the saved OCI spec as JSON; `undefined` before `commitSpec`. */
  specText(id: string): string | undefined {
    return readSpecText(this.bundle(id));
  }

  /** Returns the key of the container's writable snapshot. */
  snapshotKey(id: string): string {
    return KEY_PREFIX + id;
  }

  /** Mounts the container's root file system: a writable layer on top of the image. If `users` is set, the mount is ID-mapped. */
  async prepareRootfs(id: string, image: ImageRecord, users?: MappedUsers): Promise<void> {
    const mounts = await this.#dependencies.snapshotter.prepare(this.snapshotKey(id), image.chainId);
    const target = this.rootfs(id);
    mkdirSync(target, { recursive: true, mode: PRIVATE_DIRECTORY });
    await this.#mount(mounts, target, users);
  }

  /**
   * Lets the root user of the container's user namespace traverse the path to the root file system: the OCI runtime becomes that user
   * before it resolves the path.
   */
  grantTraversal(id: string, mappings: IdMappings): void {
    grantTraversal({ top: this.#dependencies.state, directory: join(this.#mounts, id), mappings });
  }

  async #mount(mounts: Mount[], target: string, users: MappedUsers | undefined): Promise<void> {
    const { system } = this.#dependencies;
    if (users === undefined) await mountAllAsync(system, mounts, target);
    else mountAllIdMapped(system, mounts, { target, users });
  }

  /** Mounts an image read-only and returns the path of `subPath` in it. `index`: the position among the container's image mounts. */
  async mountImage(id: string, index: number, { image, subPath, users }: ImageMount): Promise<string> {
    const mounts = await this.#dependencies.snapshotter.view(`${this.snapshotKey(id)}-image-${index}`, image.chainId);
    const target = this.imageMount(id, index);
    await mkdir(target, { recursive: true, mode: PRIVATE_DIRECTORY });
    await this.#mount(mounts, target, users);
    const source = await resolveInRoot(target, subPath);
    await stat(source).catch((cause) => {
      throw wrapError(`mount ${subPath} of image ${image.id}`, cause, 'not_found');
    });
    return source;
  }

  imageMount(id: string, index: number): string {
    return join(this.#mounts, id, `image-${index}`);
  }

  /** Mounts a host path ID-mapped. `index`: the mount's position in the container's configuration. */
  async mountMapped(id: string, index: number, { source, users, propagation }: MappedMount): Promise<void> {
    const target = this.mappedMount(id, index);
    if ((await stat(source)).isDirectory()) await mkdir(target, { recursive: true, mode: PRIVATE_DIRECTORY });
    else await writeFile(target, '');
    bindIdMapped(this.#dependencies.system, { source, target, descriptor: users.descriptor, propagation });
  }

  mappedMount(id: string, index: number): string {
    return join(this.#mounts, id, `mapped-${index}`);
  }

  volume(id: string, index: number): string {
    return join(this.#volumes, id, `volume-${index}`);
  }

  /** Returns the directories of the container's image volumes, without duplicates. */
  async imageVolumes(id: string): Promise<string[]> {
    const directory = join(this.#volumes, id);
    const entries = await readdir(directory, { withFileTypes: true }).catch((error) => {
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    });
    const isVolume = (entry: Dirent) => entry.isDirectory() && entry.name.startsWith('volume-');
    return entries.filter(isVolume).map(({ name }) => join(directory, name));
  }

  /** Returns the working directory for a checkpoint. It exists only while a checkpoint is in progress. */
  checkpoint(id: string): string {
    return join(this.#volumes, id, 'checkpoint');
  }

  /** Returns the container's writable layer. */
  writtenLayer(id: string): Promise<UnpackTarget> {
    return this.#dependencies.snapshotter.unpackTarget(this.snapshotKey(id));
  }

  /**
   * Creates the volumes that the image declares at `paths`, and copies the image's files into them. Paths that resolve to the same
   * directory share one volume. Rejects with `resource_exhausted` if a copy would use the disk space that image pulls must leave free.
   */
  async makeVolumes(id: string, { paths, users, signal }: ImageVolumes): Promise<void> {
    const made = new Map<string, string>();
    for (const [index, path] of paths.entries()) {
      const source = await resolveInRoot(this.rootfs(id), path);
      const target = this.volume(id, index);
      const same = made.get(source);
      if (same !== undefined) {
        await symlink(basename(same), target);
        continue;
      }
      made.set(source, target);
      await mkdir(target, { recursive: true, mode: CONTAINER_DIRECTORY });
      if (users !== undefined) chownToMappedIds(target, users.mappings);
      await fillVolume(path, { source, target, signal });
    }
  }

  /** Unmounts all of the container's mounts. The writable layer is retained. */
  unmount(id: string): void {
    unmountEntries(this.#dependencies.system, join(this.#mounts, id));
  }

  /**
   * Removes all of the container's mounts and files; missing ones are not an error. Directories are only moved to the trash, because
   * deleting one takes milliseconds on a disk mounted with `discard`. Emptying the trash never descends into leftover mounts.
   */
  async remove(id: string): Promise<void> {
    const { snapshotter, trash, stateTrash } = this.#dependencies;
    this.unmount(id);
    const keys = (await snapshotter.list()).map(({ key }) => key).filter((key) => idOfKey(key) === id);
    for (const key of keys) {
      await snapshotter.remove(key).catch((error) => {
        if (!isNotFound(error)) throw error;
      });
    }
    for (const directory of [join(this.#mounts, id), this.bundle(id)]) stateTrash.throwAway(directory);
    trash.throwAway(join(this.#volumes, id));
  }

  /**
   * Returns the IDs of all containers that have a directory or a snapshot, and of sandboxes with an infra process, which has a bundle too.
   */
  async list(): Promise<string[]> {
    const snapshots = (await this.#dependencies.snapshotter.list()).flatMap(({ key }) => idOfKey(key) ?? []);
    const directories = await Promise.all(
      [this.#mounts, this.#volumes, this.#tasks].map((directory) => readdir(directory)),
    );
    return [...new Set([...snapshots, ...directories.flat()])];
  }
}

/** Returns the ID of the container that owns a snapshot; `undefined` for an image's snapshot. */
function idOfKey(key: string): string | undefined {
  return /^container-([0-9a-f]{64})(?:-image-\d+)?$/.exec(key)?.[1];
}
