import type { Stats } from 'node:fs';
import { type BytePath, bytePathOf } from './byte-path.ts';
import { look } from './layer-tree.ts';

/** True for an overlayfs whiteout: a character device 0:0. */
export function isWhiteout(stat: Stats): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0;
}

/** The committed layers below the one that is being unpacked, the topmost first. */
export class ParentLayers {
  readonly #directories: BytePath[];

  constructor(directories: string[]) {
    this.#directories = directories.map(bytePathOf);
  }

  /** Finds the path in the topmost layer that has it; undefined if no layer has it, or a layer above it has deleted it. */
  find(components: string[]): { path: BytePath; stat: Stats } | undefined {
    for (const directory of this.#directories) {
      const found = findIn(directory, components);
      if (found !== 'absent') return found;
    }
    return undefined;
  }

  /** Whether the merged layers have this directory. They have the root if there is any layer. */
  hasDirectory(components: string[]): boolean {
    if (components.length === 0) return this.#directories.length > 0;
    return this.find(components)?.stat.isDirectory() === true;
  }
}

/**
 * Looks up a path in one layer, without following links. `absent`: the layer has no such path; undefined: it hides it in the layers below.
 */
function findIn(directory: BytePath, components: string[]): { path: BytePath; stat: Stats } | 'absent' | undefined {
  let path = directory;
  for (const [index, name] of components.entries()) {
    path = `${path}/${name}`;
    const stat = look(path);
    if (stat === undefined) return 'absent';
    if (isWhiteout(stat)) return undefined;
    if (index === components.length - 1) return { path, stat };
    if (!stat.isDirectory()) return undefined;
  }
  return undefined;
}
