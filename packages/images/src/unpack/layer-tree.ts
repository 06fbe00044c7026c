import {
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { CONTAINER_DIRECTORY, PodwrightError } from '@podwright/base';
import { fileTime } from '../file-time.ts';
import { LINK_STEPS, LINK_STEPS_A_LAYER, LINK_STEPS_A_NAME, MAX_LINKS, MAX_STEPS } from '../limits.ts';
import { type BytePath, bytePathOf, displayPath, fsPath } from './byte-path.ts';

/** A verified directory of the layer: no component of `path` is a symbolic link, as checked with lstat. */
export class LayerDirectory {
  readonly path: BytePath;
  readonly name: string;
  readonly parent: LayerDirectory | undefined;
  readonly children = new Map<string, LayerDirectory>();
  /** Whether the layer has an entry for or under this directory, so that the layer's whiteouts must not delete it. */
  isOwn = false;
  /** In a full copy: names of this directory's entries that the current layer has an entry for. */
  readonly touched = new Set<string>();
  /** In an overlay: names of files in this directory that were copied up from lower layers as hard link targets. */
  readonly copied = new Set<string>();
  /** Whether this directory and its descendants hide all files of the lower layers. */
  isCleared = false;
  /** Modification time to set on disk last, because creating entries changes it. */
  mtimeSeconds: number | undefined;

  constructor(path: BytePath, parent?: LayerDirectory, name = '') {
    this.path = path;
    this.parent = parent;
    this.name = name;
  }

  pathOf(name: string): BytePath {
    return `${this.path}/${name}`;
  }

  /** Returns the path components, starting at the layer's root. */
  components(): string[] {
    const components: string[] = [];
    for (let here: LayerDirectory = this; here.parent !== undefined; here = here.parent) components.push(here.name);
    return components.reverse();
  }
}

/** Called for a path component that does not exist or is not a directory. */
export type MissingDirectory = (
  parent: LayerDirectory,
  name: string,
  found: Stats | undefined,
) => LayerDirectory | undefined;

/**
 * The directories of a layer, verified with lstat and cached in memory, so that every path is resolved inside the layer: symbolic links are
 * followed as if the layer were the root file system. No other process may modify the layer's directory on disk meanwhile.
 */
export class LayerTree {
  readonly root: LayerDirectory;
  /** Remaining number of path components that may be resolved for symbolic links in this layer; see `LINK_STEPS`. */
  #linkSteps = LINK_STEPS_A_LAYER;

  constructor(directory: string) {
    this.root = new LayerDirectory(bytePathOf(directory));
    this.root.mtimeSeconds = lstatSync(directory).mtimeMs / 1000;
  }

  /**
   * Resolves `components` to a directory. Calls `onMissing` for each component that is missing or not a directory; it may create and return
   * a directory. Throws `invalid_argument` if a name involves too many symbolic links, and `resource_exhausted` if all names together do.
   */
  resolve(components: string[], onMissing: MissingDirectory): LayerDirectory | undefined {
    let links = 0;
    let steps = 0;
    this.#linkSteps += LINK_STEPS_A_NAME;
    const pending = [...components].reverse();
    let here = this.root;
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (++steps > MAX_STEPS) throw tooManyLinks(here.path);
      if (name === '' || name === '.') continue;
      if (name === '..') {
        here = here.parent ?? this.root;
        continue;
      }
      const known = here.children.get(name);
      const found = known === undefined ? look(here.pathOf(name)) : undefined;
      if (found?.isSymbolicLink()) {
        if (++links > MAX_LINKS) throw tooManyLinks(here.pathOf(name));
        const target = this.#readLink(here.pathOf(name));
        if (target[0] === '') here = this.root;
        pending.push(...target.reverse());
        continue;
      }
      const next = known ?? (found?.isDirectory() ? this.adopt(here, name, found) : onMissing(here, name, found));
      if (next === undefined) return undefined;
      here = next;
    }
    return here;
  }

  /** Returns the components of a symbolic link's target; the first is '' if the target is absolute. */
  #readLink(path: BytePath): string[] {
    const target = readlinkSync(fsPath(path), { encoding: 'latin1' }).split('/');
    this.#linkSteps -= LINK_STEPS + target.length;
    if (this.#linkSteps >= 0) return target;
    throw new PodwrightError(
      'resource_exhausted',
      `unpack layer: resolving its names follows too many symbolic links, the last at ${displayPath(path)}`,
    );
  }

  /** Adds an existing directory. `setTimes` preserves its modification time. */
  adopt(parent: LayerDirectory, name: string, found: Stats): LayerDirectory {
    const directory = new LayerDirectory(parent.pathOf(name), parent, name);
    directory.mtimeSeconds = found.mtimeMs / 1000;
    parent.children.set(name, directory);
    return directory;
  }

  /** Creates a directory; the caller must set its attributes. */
  make(parent: LayerDirectory, name: string): LayerDirectory {
    mkdirSync(fsPath(parent.pathOf(name)), CONTAINER_DIRECTORY);
    const directory = new LayerDirectory(parent.pathOf(name), parent, name);
    parent.children.set(name, directory);
    return directory;
  }

  /** Removes the entry with this name, recursively. */
  remove(parent: LayerDirectory, name: string): void {
    parent.children.delete(name);
    removeTree(parent.pathOf(name));
  }

  /** Sets the modification times of all directories, deepest first. Must be called last. */
  setTimes(directory: LayerDirectory = this.root): void {
    for (const child of directory.children.values()) this.setTimes(child);
    const seconds = directory.mtimeSeconds;
    if (seconds !== undefined) lutimesSync(fsPath(directory.path), fileTime(seconds), fileTime(seconds));
  }
}

/** Returns the path's lstat; `undefined` if the path does not exist. */
export function look(path: BytePath): Stats | undefined {
  return lstatSync(fsPath(path), { throwIfNoEntry: false });
}

function removeTree(path: BytePath): void {
  if (!look(path)?.isDirectory()) return unlinkSync(fsPath(path));
  for (const name of readdirSync(fsPath(path), { encoding: 'latin1' })) removeTree(`${path}/${name}`);
  rmdirSync(fsPath(path));
}

function tooManyLinks(path: BytePath): PodwrightError {
  return new PodwrightError(
    'invalid_argument',
    `unpack layer: too many symbolic links on the way to ${displayPath(path)}`,
  );
}
