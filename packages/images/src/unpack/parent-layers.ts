import type { Stats } from 'node:fs';
import { type BytePath, bytePathOf } from './byte-path.ts';
import { look } from './layer-tree.ts';
import type { LayerSystem } from './system-calls.ts';

/** Whether this is an overlayfs whiteout (character device 0:0). */
export function isWhiteout(stat: Stats): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0;
}

/** The committed layers below the one being unpacked, topmost first. */
export class ParentLayers {
  readonly #system: LayerSystem;
  readonly #directories: BytePath[];
  /** Caches whether directories of the parent layers are opaque. */
  readonly #isOpaque = new Map<BytePath, boolean>();

  constructor(system: LayerSystem, directories: string[]) {
    this.#system = system;
    this.#directories = directories.map(bytePathOf);
  }

  /**
   * Finds a path in the topmost layer that contains it. Returns `undefined` if no layer contains it or if a higher layer has deleted it.
   */
  find(components: string[]): { path: BytePath; stat: Stats } | undefined {
    for (const directory of this.#directories) {
      const found = this.#findIn(directory, components);
      if (found !== 'absent') return found;
    }
    return undefined;
  }

  /** Whether the merged layers contain this directory. They contain the root if there is at least one layer. */
  hasDirectory(components: string[]): boolean {
    if (components.length === 0) return this.#directories.length > 0;
    return this.find(components)?.stat.isDirectory() === true;
  }

  /**
   * Looks up a path in one layer without following symbolic links. Returns `absent` if the layer neither contains nor deletes the path, and
   * `undefined` if the layer hides the path in lower layers.
   */
  #findIn(directory: BytePath, components: string[]): { path: BytePath; stat: Stats } | 'absent' | undefined {
    let path = directory;
    const passed: BytePath[] = [];
    for (const [index, name] of components.entries()) {
      path = `${path}/${name}`;
      const stat = look(path);
      if (stat === undefined) return passed.some((one) => this.#hidesLower(one)) ? undefined : 'absent';
      if (isWhiteout(stat)) return undefined;
      if (index === components.length - 1) return { path, stat };
      if (!stat.isDirectory()) return undefined;
      passed.push(path);
    }
    return undefined;
  }

  #hidesLower(path: BytePath): boolean {
    const known = this.#isOpaque.get(path);
    if (known !== undefined) return known;
    const isOpaque = this.#system.isOpaque(Uint8Array.from(Buffer.from(path, 'latin1')));
    this.#isOpaque.set(path, isOpaque);
    return isOpaque;
  }
}
