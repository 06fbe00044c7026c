import { linkSync, readdirSync, type Stats } from 'node:fs';
import { PodwrightError } from '@podwright/base';
import { hasErrno } from '@podwright/system';
import { type BytePath, fsPath } from './byte-path.ts';
import { type LayerDirectory, type LayerTree, look, type MissingDirectory } from './layer-tree.ts';
import { isWhiteout } from './parent-layers.ts';
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
export type WhiteoutDependencies = { system: LayerSystem; tree: LayerTree; overlay: boolean };

/**
 * Writes down what a layer deletes. Whiteouts are about the layers below: what the same layer made stays, whichever comes first
 * in the archive.
 */
export class Whiteouts {
  readonly #system: LayerSystem;
  readonly #tree: LayerTree;
  readonly #overlay: boolean;
  /** A mark made before: others are links to it, as overlayfs itself has them. */
  #mark: BytePath | undefined;

  constructor({ system, tree, overlay }: WhiteoutDependencies) {
    this.#system = system;
    this.#tree = tree;
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
    if (this.#overlay) return; // the directory holds nothing but this layer
    let here: LayerDirectory | undefined = parent;
    for (let child = name; here !== undefined && !here.touched.has(child); here = here.parent) {
      here.touched.add(child);
      child = here.name;
    }
  }

  /** True if what was found is not there for a reader of the layer: a deletion. */
  isDeletion(found: Stats): boolean {
    return this.#overlay && isWhiteout(found);
  }

  /** True if a directory may take the place of what was found (no directory): a deletion, or a file of a layer below. */
  givesWay(parent: LayerDirectory, name: string, found: Stats): boolean {
    return this.#overlay ? isWhiteout(found) : !parent.touched.has(name);
  }

  /** Makes the directory show only what this layer has in it. */
  hideLower(directory: LayerDirectory): void {
    if (this.#overlay) {
      const path = Buffer.from(directory.path, 'latin1');
      this.#system.add({ call: 'xattr', path, name: 'trusted.overlay.opaque', value: Buffer.from('y') });
      return;
    }
    this.#system.flush();
    this.#removeUntouched(directory);
  }

  /** Once for each directory: what comes later is the layer's own, and a hostile layer asks again and again. */
  #removeUntouched(directory: LayerDirectory): void {
    if (directory.isCleared) return;
    directory.isCleared = true;
    for (const name of readdirSync(fsPath(directory.path), { encoding: 'latin1' })) {
      const child = directory.children.get(name);
      if (!directory.touched.has(name)) this.#tree.remove(directory, name);
      else if (child !== undefined) this.#removeUntouched(child);
    }
  }

  #delete(parent: LayerDirectory, name: string): void {
    const found = look(parent.pathOf(name));
    const ours = found !== undefined && (this.#overlay ? !isWhiteout(found) : parent.touched.has(name));
    if (ours) {
      const directory = parent.children.get(name);
      if (directory !== undefined) this.hideLower(directory);
      return;
    }
    if (this.#overlay) {
      if (found === undefined) this.#makeMark(parent.pathOf(name));
    } else if (found !== undefined) {
      this.#system.flush();
      this.#tree.remove(parent, name);
    }
  }

  #makeMark(path: BytePath): void {
    if (this.#mark !== undefined) {
      try {
        linkSync(fsPath(this.#mark), fsPath(path));
        return;
      } catch (error) {
        if (!hasErrno(error, 'EMLINK') && !hasErrno(error, 'ENOENT')) throw error;
      }
    }
    const device = { type: 'char', major: 0, minor: 0 } as const;
    this.#system.add({ call: 'device', path: Buffer.from(path, 'latin1'), device, mode: 0 });
    this.#system.flush();
    this.#mark = path;
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
