import { linkSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { PodwrightError } from '@podwright/base';
import { hasErrno } from '@podwright/system';
import { type BytePath, fsPath } from './byte-path.ts';
import { type LayerDirectory, type LayerTree, look, type MissingDirectory } from './layer-tree.ts';
import { isWhiteout, type ParentLayers } from './parent-layers.ts';
import type { LayerSystem } from './system-calls.ts';

/** Starts the name of an entry that deletes another of the layers below (image-spec v1, layer.md). */
export const WHITEOUT_PREFIX = '.wh.';
/** Starts the names of entries that say something of their directory. */
const METADATA_PREFIX = '.wh..wh.';
/** Hides everything that the layers below have in the directory. */
const OPAQUE_NAME = '.wh..wh..opq';

/** True for the leftovers of AUFS that some old layers carry: they are no files. */
export function isWhiteoutMetadata(components: string[]): boolean {
  return components.some(
    (name, index) => name.startsWith(METADATA_PREFIX) && !(name === OPAQUE_NAME && index === components.length - 1),
  );
}

/** What whiteouts work on. `overlay`: they become overlayfs's own marks; otherwise files are deleted. */
export type WhiteoutDependencies = {
  system: LayerSystem;
  tree: LayerTree;
  parents: ParentLayers;
  overlay: boolean;
};

/**
 * Writes down what a layer deletes. Whiteouts are about the layers below: what the same layer made stays, whichever comes first
 * in the archive.
 */
export class Whiteouts {
  readonly #system: LayerSystem;
  readonly #tree: LayerTree;
  readonly #parents: ParentLayers;
  readonly #overlay: boolean;
  /** Directories that the layers below have, too. */
  readonly #merged = new WeakSet<LayerDirectory>();
  /** The last device that was made: other marks are links to it, as in overlayfs itself. The layer may replace what is at the path. */
  #mark: { path: BytePath; dev: number; ino: number } | undefined;

  constructor({ system, tree, parents, overlay }: WhiteoutDependencies) {
    this.#system = system;
    this.#tree = tree;
    this.#parents = parents;
    this.#overlay = overlay;
  }

  /** Applies the whiteout entry `name` in the directory `components`. */
  apply(components: string[], name: string, onMissing: MissingDirectory): void {
    const parent = this.#tree.resolve(components, this.#overlay ? onMissing : () => undefined);
    if (parent === undefined) return; // there is nothing to delete
    if (name === OPAQUE_NAME) this.hideLower(parent);
    else this.#delete(parent, deletedName(name));
  }

  /** Notes that this layer has something of this name: whiteouts must not delete it, nor the directories on the way. */
  touch(parent: LayerDirectory, name: string): void {
    for (let here: LayerDirectory | undefined = parent; here !== undefined && !here.isOwn; here = here.parent)
      here.isOwn = true;
    if (!this.#overlay) parent.touched.add(name); // of an overlay, all but directories and marks is the layer's own
  }

  /** True if what was found is not there for a reader of the layer: a deletion. */
  isDeletion(found: Stats): boolean {
    return this.#overlay && isWhiteout(found);
  }

  /** True if a directory may take the place of what was found (no directory): a deletion, or a file of a layer below. */
  givesWay(parent: LayerDirectory, name: string, found: Stats): boolean {
    return this.#overlay ? isWhiteout(found) : !this.#isOwn(parent, name);
  }

  /** Makes the directory show only what this layer has in it. */
  hideLower(directory: LayerDirectory): void {
    if (this.#overlay) {
      const path = Buffer.from(directory.path, 'latin1');
      this.#system.add({ call: 'xattr', path, name: 'trusted.overlay.opaque', value: Buffer.from('y') });
    }
    this.#system.flush();
    this.#clear(directory);
  }

  /** Whether what the layers below have in the directory is visible in it, where this layer does not replace it. */
  showsLower(directory: LayerDirectory): boolean {
    for (let here: LayerDirectory | undefined = directory; here !== undefined; here = here.parent)
      if (here.isCleared) return false;
    return true;
  }

  /** Once for each directory: what comes later is the layer's own, and a hostile layer asks again and again. */
  #clear(directory: LayerDirectory): void {
    if (directory.isCleared) return;
    directory.isCleared = true;
    for (const name of readdirSync(fsPath(directory.path), { encoding: 'latin1' })) {
      const child = directory.children.get(name);
      if (!this.#isOwn(directory, name)) this.#tree.remove(directory, name);
      else if (child !== undefined) this.#clear(child);
    }
  }

  /** Whether what is there has an entry in this layer: it is no mark, and no directory that is there for the sake of marks alone. */
  #isOwn(parent: LayerDirectory, name: string): boolean {
    const directory = parent.children.get(name);
    if (directory !== undefined) return directory.isOwn;
    return this.#overlay ? !isWhiteout(look(parent.pathOf(name))!) : parent.touched.has(name);
  }

  /** Whether overlayfs merges the directory with others. In one that it does not merge, it lists marks as files that nobody can open. */
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
    if (this.#overlay && this.#isMerged(parent)) this.#makeMark(parent.pathOf(name));
  }

  #makeMark(path: BytePath): void {
    if (this.#mark !== undefined && isStillThere(this.#mark)) {
      try {
        linkSync(fsPath(this.#mark.path), fsPath(path));
        return;
      } catch (error) {
        if (!hasErrno(error, 'EMLINK')) throw error;
      }
    }
    const device = { type: 'char', major: 0, minor: 0 } as const;
    this.#system.add({ call: 'device', path: Buffer.from(path, 'latin1'), device, mode: 0 });
    this.#system.flush();
    const { dev, ino } = lstatSync(fsPath(path));
    this.#mark = { path, dev, ino };
  }
}

/** Whether the path still leads to this mark. A later entry may have put something else there, or a link or file on the way. */
function isStillThere({ path, dev, ino }: { path: BytePath; dev: number; ino: number }): boolean {
  try {
    const found = look(path);
    return found !== undefined && isWhiteout(found) && found.dev === dev && found.ino === ino;
  } catch {
    return false; // a link may lead anywhere
  }
}

/** The name that a whiteout deletes. Anything but a plain name would reach outside of the directory. */
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
