import { type Dirent, mkdirSync } from 'node:fs';
import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  CONTAINER_DIRECTORY,
  isErrno,
  isNotFound,
  makePrivateDirectory,
  PRIVATE_DIRECTORY,
  type Trash,
  wrapError,
} from '@podwright/base';
import type { ImageRecord, Snapshotter, UnpackTarget } from '@podwright/images';
import {
  bindIdMapped,
  giveToUsers,
  type IdMappings,
  type MappedUsers,
  type Mount,
  mountAllAside,
  mountAllIdMapped,
  openPassage,
  resolveInRoot,
  type System,
  unmountEntries,
} from '@podwright/system';
import type { OciSpec } from '../oci/spec.ts';
import { commitSpec, readSpec, readSpecText } from '../tasks/bundle.ts';
import { fillVolume } from './image-volumes.ts';

/**
 * `root` and `state` are the runtime's directories, see `RuntimeOptions`; `trash` takes trees of `root`, `stateTrash` those of
 * `state`.
 */
export type ContainerFilesDependencies = {
  system: System;
  snapshotter: Snapshotter;
  trash: Trash;
  stateTrash: Trash;
  root: string;
  state: string;
};

/** A directory of an image's content; `subPath` '' is all of it. With `users` it is theirs. */
export type ImageMount = { image: ImageRecord; subPath: string; users?: MappedUsers };

/** The volumes that an image declares at `paths`; `users` own them, if given. The signal ends the copying. */
export type ImageVolumes = { paths: string[]; users?: MappedUsers; signal: AbortSignal };

/** A path of the host, to be shown as that of `users`. */
export type MappedMount = { source: string; users: MappedUsers; propagation: 'private' | 'slave' };

const KEY_PREFIX = 'container-';

/** The directories of containers below the state directory: mounts and bundles. */
export const CONTAINER_STATE = ['containers', 'tasks'] as const;

/**
 * Snapshots, mounts and directories of containers, all found again by the container's id:
 * `<state>/containers/<id>` with the mounts `rootfs`, `image-N` and `mapped-N`, `<state>/tasks/<id>` (the bundle),
 * `<root>/containers/<id>` with the volumes that the image declares, and snapshots named `container-<id>…`.
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

  /** Makes the directories in which everything of containers is. */
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

  /** Makes the specification the one that the container runs, from its next start on. */
  commitSpec(id: string, spec: OciSpec): void {
    commitSpec(this.bundle(id), spec);
  }

  /** What the container runs, or is to run; `undefined` before that is committed. */
  spec(id: string): OciSpec | undefined {
    return readSpec(this.bundle(id));
  }

  /** The same as JSON. */
  specText(id: string): string | undefined {
    return readSpecText(this.bundle(id));
  }

  /** Key of the snapshot that the container writes to. */
  snapshotKey(id: string): string {
    return KEY_PREFIX + id;
  }

  /** Mounts the container's root file system: a writable layer on the image. With `users` it is theirs. */
  async prepareRootfs(id: string, image: ImageRecord, users?: MappedUsers): Promise<void> {
    const mounts = await this.#dependencies.snapshotter.prepare(this.snapshotKey(id), image.chainId);
    const target = this.rootfs(id);
    mkdirSync(target, { recursive: true, mode: PRIVATE_DIRECTORY });
    await this.#mount(mounts, target, users);
  }

  /** Lets root of the container's user namespace reach its root file system, as an OCI runtime has to when it starts it. */
  openTo(id: string, mappings: IdMappings): void {
    openPassage({ top: this.#dependencies.state, directory: join(this.#mounts, id), mappings });
  }

  async #mount(mounts: Mount[], target: string, users: MappedUsers | undefined): Promise<void> {
    const { system } = this.#dependencies;
    if (users === undefined) await mountAllAside(system, mounts, target);
    else mountAllIdMapped(system, mounts, { target, users });
  }

  /** Mounts an image's content, read-only, and returns where `subPath` of it is. `index` tells a container's images apart. */
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

  /** Shows a path of the host as that of other users; for the container's N-th mount. */
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

  /** The volumes that the container's image declares, each directory once. */
  async imageVolumes(id: string): Promise<string[]> {
    const directory = join(this.#volumes, id);
    const entries = await readdir(directory, { withFileTypes: true }).catch((error) => {
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    });
    const isVolume = (entry: Dirent) => entry.isDirectory() && entry.name.startsWith('volume-');
    return entries.filter(isVolume).map(({ name }) => join(directory, name));
  }

  /** Where a checkpoint is collected; there only meanwhile. */
  checkpoint(id: string): string {
    return join(this.#volumes, id, 'checkpoint');
  }

  /** The layer that the container writes to. */
  writtenLayer(id: string): Promise<UnpackTarget> {
    return this.#dependencies.snapshotter.unpackTarget(this.snapshotKey(id));
  }

  /**
   * Makes the volumes that the image declares at `paths`, with the image's files as their first content. Paths that lead to
   * one directory have one volume: of several the container would see the last one only. `resource_exhausted` if a copy would
   * take what images leave of the disk.
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
      if (users !== undefined) giveToUsers(target, users.mappings);
      await fillVolume(path, { source, target, signal });
    }
  }

  /** Takes the mounts down; the written layer stays. */
  unmount(id: string): void {
    unmountEntries(this.#dependencies.system, join(this.#mounts, id));
  }

  /**
   * Removes everything of the container. No error for what is not there. Directories are only moved away here: on a disk that
   * is told of each block that gets free (mount option `discard`), to remove one takes milliseconds. Should a mount be left
   * after all, the trash refuses to go into it.
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

  /** Container ids of which a directory or a snapshot is there. Bundles may be those of a sandbox's init. */
  async list(): Promise<string[]> {
    const snapshots = (await this.#dependencies.snapshotter.list()).flatMap(({ key }) => idOfKey(key) ?? []);
    const directories = await Promise.all(
      [this.#mounts, this.#volumes, this.#tasks].map((directory) => readdir(directory)),
    );
    return [...new Set([...snapshots, ...directories.flat()])];
  }
}

/** The container that a snapshot belongs to; undefined for an image's. */
function idOfKey(key: string): string | undefined {
  return /^container-([0-9a-f]{64})(?:-image-\d+)?$/.exec(key)?.[1];
}
