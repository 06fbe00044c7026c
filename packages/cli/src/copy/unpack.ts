import { openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CONTAINER_FILE, PodwrightError } from '@podwright/base';
import type { TarEntry, TarHeader } from '@podwright/images/tar';
import { checkRoom, LocalTree, type Names, showNames, writeBody } from './local-tree.ts';

export type UnpackOptions = {
  /** The name of what was asked for, which every entry begins with; `.` for a directory without one. */
  base: string;
  /** Where it goes: the user's own word. A file goes into a directory that is there; a directory's content goes into it. */
  destination: string;
  /** Called for what is left out: links and devices. */
  onSkipped: (message: string) => void;
};

/**
 * Writes the entries of an archive that came from a container, and is not trusted: names that lead elsewhere are errors, links are
 * left out, permission bits are all that is taken of a mode, and no file is begun that the disk has no room for.
 * Errors: `invalid_argument`, `failed_precondition`, `resource_exhausted`; those of the disk.
 */
export async function unpackInto(entries: AsyncIterable<TarEntry>, options: UnpackOptions): Promise<void> {
  using copy = new Copy(options);
  for await (const entry of entries) await copy.take(entry);
  copy.finish();
}

type Progress = { kind: 'nothing' } | { kind: 'file' } | { kind: 'tree'; tree: LocalTree };

class Copy implements Disposable {
  readonly #options: UnpackOptions;
  #progress: Progress = { kind: 'nothing' };

  constructor(options: UnpackOptions) {
    this.#options = options;
  }

  async take(entry: TarEntry): Promise<void> {
    const names = this.#namesOf(entry.header.nameBytes);
    if (entry.header.sparse !== undefined) throw unasked(`${entry.header.name} as a sparse file`);
    if (this.#progress.kind === 'nothing') await this.#begin(entry, names);
    else if (this.#progress.kind === 'file') throw unasked(entry.header.name);
    else await this.#add(this.#progress.tree, entry, names);
  }

  finish(): void {
    if (this.#progress.kind === 'nothing')
      throw new PodwrightError('data_loss', 'the archive from the container is empty');
  }

  [Symbol.dispose](): void {
    if (this.#progress.kind === 'tree') this.#progress.tree[Symbol.dispose]();
  }

  /** What was asked for comes first. */
  async #begin({ header, body }: TarEntry, names: Names): Promise<void> {
    const { destination, base } = this.#options;
    if (names.length > 0) throw unasked(header.name);
    if (header.type === 'directory') {
      this.#progress = { kind: 'tree', tree: LocalTree.open(destination, header.mode) };
      return;
    }
    if (header.type !== 'file') throw new PodwrightError('failed_precondition', `it ${describe(header)}`);
    this.#progress = { kind: 'file' };
    const there = await stat(destination).catch(() => undefined);
    if (there?.isDirectory()) {
      using tree = LocalTree.open(destination);
      checkRoom(destination, header.size, base);
      return await tree.writeFile([Buffer.from(base).toString('latin1')], header.mode, body);
    }
    const directory = dirname(resolve(destination));
    using _made = LocalTree.open(directory);
    // a device or a pipe takes what it takes
    if (there === undefined || there.isFile()) checkRoom(directory, header.size, base);
    await writeBody(openSync(destination, 'w', header.mode & 0o777 || CONTAINER_FILE), body);
  }

  async #add(tree: LocalTree, { header, body }: TarEntry, names: Names): Promise<void> {
    switch (header.type) {
      case 'directory':
        return tree.makeDirectory(names, header.mode);
      case 'file':
        if (names.length === 0) throw unasked(header.name);
        checkRoom(tree.path, header.size, showNames(names));
        return tree.writeFile(names, header.mode, body);
      case 'link': {
        const target = this.#namesOf(header.linkBytes);
        if (names.length === 0 || target.length === 0) throw unasked(header.name);
        return tree.linkFile(names, target);
      }
      default:
        this.#options.onSkipped(`${showNames(names)} ${describe(header)}: left out`);
    }
  }

  /** The names below what was asked for. */
  #namesOf(bytes: Buffer): Names {
    const path = bytes.toString('latin1');
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    const base = Buffer.from(this.#options.base).toString('latin1');
    if (path.startsWith('/') || names.includes('..')) throw unasked(bytes.toString('utf8'));
    if (base === '.') return names;
    if (names[0] !== base) throw unasked(bytes.toString('utf8'));
    return names.slice(1);
  }
}

function unasked(name: string): PodwrightError {
  return new PodwrightError('invalid_argument', `the container sent ${name}, which was not asked for`);
}

function describe({ type, linkName }: TarHeader): string {
  if (type === 'symlink') return `is a symbolic link to ${linkName}`;
  return type === 'fifo' ? 'is a FIFO' : 'is a device';
}
