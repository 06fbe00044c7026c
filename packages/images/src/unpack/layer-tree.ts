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

/** A directory of the layer that is known to be one: every component of `path` was looked at without following links. */
export class LayerDirectory {
  readonly path: BytePath;
  readonly name: string;
  readonly parent: LayerDirectory | undefined;
  readonly children = new Map<string, LayerDirectory>();
  /** True if the layer has an entry for it or below it: its whiteouts spare it. */
  isOwn = false;
  /** Names in a full copy that are this layer's own. */
  readonly touched = new Set<string>();
  /** True once nothing of the layers below is visible in it, nor in what is below it. */
  isCleared = false;
  /** Set when everything else is done: making entries changes it. */
  mtimeSeconds: number | undefined;

  constructor(path: BytePath, parent?: LayerDirectory, name = '') {
    this.path = path;
    this.parent = parent;
    this.name = name;
  }

  pathOf(name: string): BytePath {
    return `${this.path}/${name}`;
  }

  /** Components from the layer's root. */
  components(): string[] {
    const components: string[] = [];
    for (let here: LayerDirectory = this; here.parent !== undefined; here = here.parent) components.push(here.name);
    return components.reverse();
  }
}

/** What to do with a component that is not there, or is no directory. */
export type MissingDirectory = (
  parent: LayerDirectory,
  name: string,
  found: Stats | undefined,
) => LayerDirectory | undefined;

/**
 * The directories of a layer, known by lstat and kept in memory, so that every path is resolved inside the layer: symbolic
 * links are followed as if the layer were the whole file system. The directory on disk is private to us while this is used.
 */
export class LayerTree {
  readonly root: LayerDirectory;
  /** What is left for following links, see `LINK_STEPS`. */
  #linkSteps = LINK_STEPS_A_LAYER;

  constructor(directory: string) {
    this.root = new LayerDirectory(bytePathOf(directory));
    this.root.mtimeSeconds = lstatSync(directory).mtimeMs / 1000;
  }

  /**
   * The directory that `components` lead to, or what `onMissing` made or returned for one that is not there. Throws
   * `invalid_argument` for a name with too many links, `resource_exhausted` when those of all names become too many.
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

  /** Components of a link's target; the first is '' if the target is absolute. */
  #readLink(path: BytePath): string[] {
    const target = readlinkSync(fsPath(path), { encoding: 'latin1' }).split('/');
    this.#linkSteps -= LINK_STEPS + target.length;
    if (this.#linkSteps >= 0) return target;
    throw new PodwrightError(
      'resource_exhausted',
      `unpack layer: its names lead through too many symbolic links, the last to ${displayPath(path)}`,
    );
  }

  /** Takes in a directory that was there; its time is kept. */
  adopt(parent: LayerDirectory, name: string, found: Stats): LayerDirectory {
    const directory = new LayerDirectory(parent.pathOf(name), parent, name);
    directory.mtimeSeconds = found.mtimeMs / 1000;
    parent.children.set(name, directory);
    return directory;
  }

  /** Makes a directory; its attributes are the caller's. */
  make(parent: LayerDirectory, name: string): LayerDirectory {
    mkdirSync(fsPath(parent.pathOf(name)), CONTAINER_DIRECTORY);
    const directory = new LayerDirectory(parent.pathOf(name), parent, name);
    parent.children.set(name, directory);
    return directory;
  }

  /** Removes whatever has this name, with all that is in it. */
  remove(parent: LayerDirectory, name: string): void {
    parent.children.delete(name);
    removeTree(parent.pathOf(name));
  }

  /** Sets the times of every directory, deepest first. The last thing to do. */
  setTimes(directory: LayerDirectory = this.root): void {
    for (const child of directory.children.values()) this.setTimes(child);
    const seconds = directory.mtimeSeconds;
    if (seconds !== undefined) lutimesSync(fsPath(directory.path), fileTime(seconds), fileTime(seconds));
  }
}

/** lstat, undefined if nothing is there. */
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
