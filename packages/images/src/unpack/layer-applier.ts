import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  ftruncateSync,
  futimesSync,
  lchownSync,
  linkSync,
  lutimesSync,
  openSync,
  readlinkSync,
  type Stats,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { CONTAINER_DIRECTORY, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { hasErrno } from '@podwright/system';
import { fileTime } from '../file-time.ts';
import { type BytePath, displayPath, fsPath, layerComponents } from './byte-path.ts';
import { type LayerDirectory, LayerTree, look, type MissingDirectory } from './layer-tree.ts';
import { ParentLayers } from './parent-layers.ts';
import { isLayerXattr, type LayerSystem } from './system-calls.ts';
import type { TarHeader, Xattr } from './tar-header.ts';
import type { TarEntry } from './tar-reader.ts';
import type { UnpackLimits } from './unpack-limits.ts';
import { isWhiteoutMetadata, WHITEOUT_PREFIX, Whiteouts } from './whiteouts.ts';

/** The kernel's limit on the size of an extended attribute (XATTR_SIZE_MAX). */
const MAX_XATTR_BYTES = 65536;

/**
 * Where to unpack a layer and how to record its deletions (see `UnpackOptions`). `limits` counts the data written and enforces limits on
 * it.
 */
export type ApplierOptions = {
  directory: string;
  overlayWhiteouts: boolean;
  parentDirectories: string[];
  limits: UnpackLimits;
};

/**
 * Creates a layer's entries in its directory, one at a time, and synchronously except for reading file bodies. An entry's attributes are
 * set on creation, except for directory times, which are set by `finish`.
 */
export class LayerApplier {
  readonly #system: LayerSystem;
  readonly #tree: LayerTree;
  readonly #parents: ParentLayers;
  readonly #whiteouts: Whiteouts;
  readonly #limits: UnpackLimits;

  constructor(system: LayerSystem, options: ApplierOptions) {
    this.#system = system;
    this.#limits = options.limits;
    this.#tree = new LayerTree(options.directory);
    this.#parents = new ParentLayers(system, options.parentDirectories);
    this.#whiteouts = new Whiteouts({
      system,
      tree: this.#tree,
      parents: this.#parents,
      overlay: options.overlayWhiteouts,
    });
  }

  /** Creates an entry. The body has been consumed once the promise resolves. */
  async apply({ header, body }: TarEntry): Promise<void> {
    const components = layerComponents(header.nameBytes);
    if (isWhiteoutMetadata(components)) return;
    const name = components.pop();
    if (name === undefined) return this.#applyRoot(header);
    if (name.startsWith(WHITEOUT_PREFIX)) return this.#whiteouts.apply(components, name, this.#makeMissing);
    const parent = this.#directory(components);
    this.#whiteouts.touch(parent, name);
    if (header.type === 'file') await this.#makeFile(parent, name, { header, body });
    else if (header.type === 'directory') this.#makeDirectory(parent, name, header);
    else if (header.type === 'symlink') this.#makeSymlink(parent, name, header);
    else if (header.type === 'link') this.#makeLink(parent, name, header);
    else this.#makeNode(parent, name, header);
  }

  /** Makes the deferred system calls and then, because creating entries changes them, sets the directory times. */
  finish(): void {
    this.#system.flush();
    this.#tree.setTimes();
  }

  #applyRoot(header: TarHeader): void {
    if (header.type !== 'directory') throw refuse(`the root is a ${header.type}, not a directory`);
    this.#setDirectoryAttributes(this.#tree.root, header);
  }

  #directory(components: string[]): LayerDirectory {
    return this.#tree.resolve(components, this.#makeMissing)!;
  }

  /**
   * Creates a directory that has no entry of its own in the layer but contains other entries. Its attributes come from the lower layers.
   */
  readonly #makeMissing: MissingDirectory = (parent, name, found) => {
    const hidesLower = found !== undefined && this.#whiteouts.isReplaceable(parent, name);
    if (found !== undefined && !hidesLower) {
      throw refuse(
        `${displayPath([...parent.components(), name].join('/'))} is not a directory, but has entries below it`,
      );
    }
    if (hidesLower) this.#clear(parent, name);
    const directory = this.#tree.make(parent, name);
    if (hidesLower) this.#whiteouts.hideLower(directory);
    const lower = this.#whiteouts.showsLower(directory) ? this.#parents.find(directory.components()) : undefined;
    chmodSync(fsPath(directory.path), CONTAINER_DIRECTORY);
    if (lower?.stat.isDirectory()) {
      lchownSync(fsPath(directory.path), lower.stat.uid, lower.stat.gid);
      chmodSync(fsPath(directory.path), lower.stat.mode & 0o7777);
      directory.mtimeSeconds = lower.stat.mtimeMs / 1000;
      this.#system.add({ call: 'copy-xattrs', from: bytes(lower.path), path: bytes(directory.path) });
    }
    return directory;
  };

  async #makeFile(parent: LayerDirectory, name: string, { header, body }: TarEntry): Promise<void> {
    const path = parent.pathOf(name);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const descriptor = this.#create(parent, name, () => openSync(fsPath(path), flags, PRIVATE_FILE));
    try {
      await this.#write(descriptor, header, body);
      fchownSync(descriptor, header.uid, header.gid);
      fchmodSync(descriptor, header.mode); // after chown, because chown clears setuid
      futimesSync(descriptor, fileTime(header.mtimeSeconds), fileTime(header.mtimeSeconds));
    } finally {
      closeSync(descriptor);
    }
    this.#addXattrs(path, header.xattrs);
  }

  async #write(descriptor: number, header: TarHeader, body: AsyncIterable<Buffer>): Promise<void> {
    const parts = header.sparse ?? [{ offset: 0, length: header.size }];
    let part = 0;
    let inPart = 0;
    for await (let piece of body) {
      this.#limits.addContent(piece.length);
      while (piece.length > 0) {
        while (inPart === parts[part]!.length) {
          part++;
          inPart = 0;
        }
        const { offset, length } = parts[part]!;
        const written = writeSync(descriptor, piece, 0, Math.min(piece.length, length - inPart), offset + inPart);
        inPart += written;
        piece = piece.subarray(written);
      }
    }
    if (header.sparse !== undefined) ftruncateSync(descriptor, header.size);
  }

  #makeDirectory(parent: LayerDirectory, name: string, header: TarHeader): void {
    const known = parent.children.get(name);
    this.#setDirectoryAttributes(known ?? this.#enterDirectory(parent, name), header);
  }

  /**
   * Creates a directory or adopts an existing one. A directory that replaces another type of file hides the contents of the lower layers.
   */
  #enterDirectory(parent: LayerDirectory, name: string): LayerDirectory {
    const found = look(parent.pathOf(name));
    if (found?.isDirectory()) return this.#tree.adopt(parent, name, found);
    if (found === undefined) return this.#tree.make(parent, name);
    this.#clear(parent, name);
    const directory = this.#tree.make(parent, name);
    this.#whiteouts.hideLower(directory);
    return directory;
  }

  #setDirectoryAttributes(directory: LayerDirectory, header: TarHeader): void {
    const path = fsPath(directory.path);
    directory.isOwn = true;
    lchownSync(path, header.uid, header.gid);
    chmodSync(path, header.mode);
    directory.mtimeSeconds = header.mtimeSeconds;
    this.#addXattrs(directory.path, header.xattrs);
  }

  #makeSymlink(parent: LayerDirectory, name: string, header: TarHeader): void {
    const path = parent.pathOf(name);
    this.#create(parent, name, () => symlinkSync(header.linkBytes, fsPath(path)));
    this.#setLinkAttributes(path, header);
    this.#addXattrs(path, header.xattrs);
  }

  #setLinkAttributes(
    path: BytePath,
    { uid, gid, mtimeSeconds }: Pick<TarHeader, 'uid' | 'gid' | 'mtimeSeconds'>,
  ): void {
    lchownSync(fsPath(path), uid, gid);
    lutimesSync(fsPath(path), fileTime(mtimeSeconds), fileTime(mtimeSeconds));
  }

  #makeNode(parent: LayerDirectory, name: string, header: TarHeader): void {
    const path = parent.pathOf(name);
    if (look(path) !== undefined) this.#clear(parent, name);
    const { type, major, minor, mode } = header;
    if (type === 'char' || type === 'block') {
      this.#system.add({ call: 'device', path: bytes(path), device: { type, major, minor }, mode });
    } else {
      this.#system.add({ call: 'fifo', path: bytes(path), mode });
    }
    this.#system.flush();
    this.#setLinkAttributes(path, header);
    chmodSync(fsPath(path), mode);
    this.#addXattrs(path, header.xattrs);
  }

  /** Creates a hard link. It shares its target's attributes; those in its own header are ignored. */
  #makeLink(parent: LayerDirectory, name: string, header: TarHeader): void {
    const path = parent.pathOf(name);
    const target = this.#linkTarget(header);
    const stat = look(target)!;
    if (stat.isDirectory()) throw refuse(`${displayPath(path)} is a hard link to a directory`);
    const existing = look(path);
    if (existing !== undefined && existing.ino === stat.ino && existing.dev === stat.dev) {
      parent.copied.delete(name); // the entry is a link to itself
      return;
    }
    this.#create(parent, name, () => linkSync(fsPath(target), fsPath(path)));
  }

  /** Returns the path of a hard link's target. A target that exists only in a lower layer is copied up first. */
  #linkTarget(header: TarHeader): BytePath {
    const components = layerComponents(header.linkBytes);
    const name = components.at(-1);
    if (name === undefined) throw refuse(`${JSON.stringify(header.name)} is a hard link to the root`);
    let deepest = this.#tree.root;
    const parent = this.#tree.resolve(components.slice(0, -1), (last) => {
      deepest = last;
      return undefined;
    });
    const found = parent === undefined ? undefined : look(parent.pathOf(name));
    if (parent !== undefined && found !== undefined && !this.#whiteouts.isDeletion(found)) {
      return parent.pathOf(name);
    }
    const showsLower = found === undefined && this.#whiteouts.showsLower(parent ?? deepest);
    const lower = showsLower ? this.#parents.find(components) : undefined;
    if (lower === undefined) {
      throw refuse(
        `${JSON.stringify(header.name)} is a hard link to ${JSON.stringify(header.linkName)}, which does not exist`,
      );
    }
    return this.#copyUp(components, lower);
  }

  #copyUp(components: string[], lower: { path: BytePath; stat: Stats }): BytePath {
    const { stat } = lower;
    const name = components.at(-1)!;
    const parent = this.#directory(components.slice(0, -1));
    const path = parent.pathOf(name);
    parent.copied.add(name);
    if (stat.isSymbolicLink()) symlinkSync(readlinkSync(fsPath(lower.path), { encoding: 'buffer' }), fsPath(path));
    else if (stat.isFile()) {
      this.#limits.addCopy(stat.size);
      copyFileSync(fsPath(lower.path), fsPath(path), constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    } else throw refuse(`the target ${displayPath(path)} of a hard link is in a layer below and is not a regular file`);
    this.#setLinkAttributes(path, { uid: stat.uid, gid: stat.gid, mtimeSeconds: stat.mtimeMs / 1000 });
    if (stat.isFile()) {
      chmodSync(fsPath(path), stat.mode & 0o7777);
      lutimesSync(fsPath(path), fileTime(stat.mtimeMs / 1000), fileTime(stat.mtimeMs / 1000));
    }
    this.#system.add({ call: 'copy-xattrs', from: bytes(lower.path), path: bytes(path) });
    return path;
  }

  /** Creates an entry, replacing any existing entry with that name. */
  #create<T>(parent: LayerDirectory, name: string, make: () => T): T {
    try {
      return make();
    } catch (error) {
      if (!hasErrno(error, 'EEXIST')) throw error;
    }
    this.#clear(parent, name);
    return make();
  }

  /** Removes the entry with that name. Pending system calls are made first, because they might refer to paths under it. */
  #clear(parent: LayerDirectory, name: string): void {
    this.#system.flush();
    this.#tree.remove(parent, name);
  }

  #addXattrs(path: BytePath, xattrs: Xattr[]): void {
    for (const { name, value } of xattrs) {
      if (value.length > MAX_XATTR_BYTES)
        throw refuse(`${displayPath(path)} has an attribute of ${value.length} bytes`);
      if (isLayerXattr(name))
        this.#system.add({ call: 'xattr', path: bytes(path), name, value: Uint8Array.from(value) });
    }
  }
}

/** Copies the path's bytes to their own buffer, which is cheap to send to the main thread. */
function bytes(path: BytePath): Uint8Array {
  return Uint8Array.from(Buffer.from(path, 'latin1'));
}

function refuse(message: string): PodwrightError {
  return new PodwrightError('invalid_argument', `unpack layer: ${message}`);
}
