import { linkSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { PodwrightError } from '@podwright/base';
import { hasErrno } from '@podwright/system';
import { type BytePath, fsPath } from './byte-path.ts';
import { type LayerDirectory, type LayerTree, look, type MissingDirectory } from './layer-tree.ts';
import { isWhiteout, type ParentLayers } from './parent-layers.ts';
import { type LayerSystem, OPAQUE_XATTR } from './system-calls.ts';

/** Name prefix of an entry that deletes a file of the lower layers (image-spec v1, layer.md). */
export const WHITEOUT_PREFIX = '.wh.';
/** Name prefix of entries with metadata about their directory. */
const METADATA_PREFIX = '.wh..wh.';
/** The opaque whiteout, which hides the directory's contents in lower layers. */
const OPAQUE_NAME = '.wh..wh..opq';

/** Whether this is AUFS metadata, which is found in some old layers and does not represent files. */
export function isWhiteoutMetadata(components: string[]): boolean {
  return components.some(
    (name, index) => name.startsWith(METADATA_PREFIX) && !(name === OPAQUE_NAME && index === components.length - 1),
  );
}

/** `overlay`: if true, whiteouts are converted to overlayfs whiteouts; if false, the files are deleted. */
export type WhiteoutDependencies = {
  system: LayerSystem;
  tree: LayerTree;
  parents: ParentLayers;
  overlay: boolean;
};

/**
 * Applies the whiteouts of a layer. Whiteouts affect only lower layers: entries of the same layer are kept, regardless of their order in
 * the archive.
 */
export class Whiteouts {
  readonly #system: LayerSystem;
  readonly #tree: LayerTree;
  readonly #parents: ParentLayers;
  readonly #overlay: boolean;
  /** Directories of this layer that also exist in the lower layers. */
  readonly #merged = new WeakSet<LayerDirectory>();
  /**
   * The most recently created whiteout device. Further whiteouts are hard links to it, as in overlayfs, unless the layer has replaced the
   * file at its path.
   */
  #lastWhiteout: { path: BytePath; dev: number; ino: number } | undefined;

  constructor({ system, tree, parents, overlay }: WhiteoutDependencies) {
    this.#system = system;
    this.#tree = tree;
    this.#parents = parents;
    this.#overlay = overlay;
  }

  /** Applies the whiteout entry `name` in the directory `components`. */
  apply(components: string[], name: string, onMissing: MissingDirectory): void {
    const parent = this.#tree.resolve(components, this.#overlay ? onMissing : () => undefined);
    if (parent === undefined) return; // the directory does not exist, so there is nothing to delete
    if (name === OPAQUE_NAME) this.hideLower(parent);
    else this.#delete(parent, deletedName(name));
  }

  /** Records that this layer has an entry with this name, which protects the entry and its parent directories from whiteouts. */
  touch(parent: LayerDirectory, name: string): void {
    for (let here: LayerDirectory | undefined = parent; here !== undefined && !here.isOwn; here = here.parent)
      here.isOwn = true;
    // in an overlay, an entry belongs to this layer unless it is in `copied`, a directory or a whiteout, so nothing else needs recording
    if (this.#overlay) parent.copied.delete(name);
    else parent.touched.add(name);
  }

  /** Whether `found` is an overlayfs whiteout, which means that the path does not exist in the layer. */
  isDeletion(found: Stats): boolean {
    return this.#overlay && isWhiteout(found);
  }

  /** Whether a directory can replace the non-directory at this path: true for a whiteout and for a file from a lower layer. */
  isReplaceable(parent: LayerDirectory, name: string): boolean {
    return !this.#isOwn(parent, name);
  }

  /** Hides the contents that the directory has in lower layers. */
  hideLower(directory: LayerDirectory): void {
    if (this.#overlay) {
      const path = Buffer.from(directory.path, 'latin1');
      this.#system.add({ call: 'xattr', path, name: OPAQUE_XATTR, value: Buffer.from('y') });
    }
    this.#system.flush();
    this.#clear(directory);
  }

  /** Whether the contents that the directory has in lower layers are visible. */
  showsLower(directory: LayerDirectory): boolean {
    for (let here: LayerDirectory | undefined = directory; here !== undefined; here = here.parent)
      if (here.isCleared) return false;
    return true;
  }

  /**
   * Removes the files of the lower layers, but only once per directory: files created later belong to the layer itself, and hostile layers
   * may repeat the whiteout.
   */
  #clear(directory: LayerDirectory): void {
    if (directory.isCleared) return;
    directory.isCleared = true;
    for (const name of readdirSync(fsPath(directory.path), { encoding: 'latin1' })) {
      const child = directory.children.get(name);
      if (!this.#isOwn(directory, name)) this.#tree.remove(directory, name);
      else if (child !== undefined) this.#clear(child);
    }
  }

  /** Whether the existing file belongs to this layer, rather than being a whiteout, a copy, or a directory that contains only those. */
  #isOwn(parent: LayerDirectory, name: string): boolean {
    const directory = parent.children.get(name);
    if (directory !== undefined) return directory.isOwn;
    if (!this.#overlay) return parent.touched.has(name);
    return !parent.copied.has(name) && !isWhiteout(look(parent.pathOf(name))!);
  }

  /**
   * Whether overlayfs merges the directory with lower ones. In unmerged directories, whiteouts would show up as files that cannot be
   * opened.
   */
  #isMerged(directory: LayerDirectory): boolean {
    if (!this.showsLower(directory)) return false;
    if (this.#merged.has(directory)) return true;
    if (this.#parents.hasDirectory(directory.components())) this.#merged.add(directory);
    else directory.isCleared = true;
    return !directory.isCleared;
  }

  #delete(parent: LayerDirectory, name: string): void {
    const found = look(parent.pathOf(name));
    if (found !== undefined && this.isDeletion(found)) return;
    if (found !== undefined && this.#isOwn(parent, name)) {
      const directory = parent.children.get(name);
      if (directory !== undefined) this.hideLower(directory);
      return;
    }
    if (found !== undefined) {
      this.#system.flush();
      this.#tree.remove(parent, name);
    }
    if (this.#overlay && this.#isMerged(parent)) this.#makeWhiteout(parent.pathOf(name));
  }

  #makeWhiteout(path: BytePath): void {
    if (this.#lastWhiteout !== undefined && isUnchanged(this.#lastWhiteout)) {
      try {
        linkSync(fsPath(this.#lastWhiteout.path), fsPath(path));
        return;
      } catch (error) {
        if (!hasErrno(error, 'EMLINK')) throw error;
      }
    }
    const device = { type: 'char', major: 0, minor: 0 } as const;
    this.#system.add({ call: 'device', path: Buffer.from(path, 'latin1'), device, mode: 0 });
    this.#system.flush();
    const { dev, ino } = lstatSync(fsPath(path));
    this.#lastWhiteout = { path, dev, ino };
  }
}

/** Whether this whiteout still exists at its path. A later entry might have replaced it or one of its parent directories. */
function isUnchanged({ path, dev, ino }: { path: BytePath; dev: number; ino: number }): boolean {
  try {
    const found = look(path);
    return found !== undefined && isWhiteout(found) && found.dev === dev && found.ino === ino;
  } catch {
    return false; // a parent may have become a link or a file
  }
}

/** Returns the name deleted by a whiteout. Throws `invalid_argument` for names that would refer to the directory itself or its parent. */
function deletedName(whiteout: string): string {
  const name = whiteout.slice(WHITEOUT_PREFIX.length);
  if (name === '' || name === '.' || name === '..') {
    throw new PodwrightError(
      'invalid_argument',
      `unpack layer: the whiteout ${JSON.stringify(whiteout)} names no file`,
    );
  }
  return name;
}
