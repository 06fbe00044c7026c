import { openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CONTAINER_FILE, PodwrightError } from '@podwright/base';
import type { TarEntry, TarHeader } from '@podwright/images/tar';
import { checkRoom, LocalTree, type Names, showNames, writeBody } from './local-tree.ts';

export type UnpackOptions = {
  /** The requested file name, which must be the first component of every entry; `.` for a directory without a name, such as `/`. */
  base: string;
  /**
   * The destination path given by the user. If it is a directory, a copied file is placed in it. The contents of a copied directory are
   * placed directly in it.
   */
  destination: string;
  /** Called for entries that are skipped, such as symbolic links and devices. */
  onSkipped: (message: string) => void;
};

/**
 * Unpacks an archive received from a container, which is untrusted: names outside the destination are errors, symbolic links are skipped,
 * only the permission bits of modes are applied, and a file is created only if it fits on the disk. Rejects with `invalid_argument`,
 * `failed_precondition`, `resource_exhausted` or disk errors.
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
    if (entry.header.sparse !== undefined) throw unrequested(`${entry.header.name} as a sparse file`);
    if (this.#progress.kind === 'nothing') await this.#begin(entry, names);
    else if (this.#progress.kind === 'file') throw unrequested(entry.header.name);
    else await this.#add(this.#progress.tree, entry, names);
  }

  finish(): void {
    if (this.#progress.kind === 'nothing')
      throw new PodwrightError('data_loss', 'the archive from the container is empty');
  }

  [Symbol.dispose](): void {
    if (this.#progress.kind === 'tree') this.#progress.tree[Symbol.dispose]();
  }

  /** Handles the archive's first entry, which is the requested file or directory. */
  async #begin({ header, body }: TarEntry, names: Names): Promise<void> {
    const { destination, base } = this.#options;
    if (names.length > 0) throw unrequested(header.name);
    if (header.type === 'directory') {
      this.#progress = { kind: 'tree', tree: LocalTree.open(destination, header.mode) };
      return;
    }
    if (header.type !== 'file') throw new PodwrightError('failed_precondition', `it ${describe(header)}`);
    this.#progress = { kind: 'file' };
    const existing = await stat(destination).catch(() => undefined);
    if (existing?.isDirectory()) {
      using tree = LocalTree.open(destination);
      checkRoom(destination, header.size, base);
      return await tree.writeFile([Buffer.from(base).toString('latin1')], header.mode, body);
    }
    const directory = dirname(resolve(destination));
    using _made = LocalTree.open(directory);
    // devices and pipes need no disk space
    if (existing === undefined || existing.isFile()) checkRoom(directory, header.size, base);
    await writeBody(openSync(destination, 'w', header.mode & 0o777 || CONTAINER_FILE), body);
  }

  async #add(tree: LocalTree, { header, body }: TarEntry, names: Names): Promise<void> {
    switch (header.type) {
      case 'directory':
        return tree.makeDirectory(names, header.mode);
      case 'file':
        if (names.length === 0) throw unrequested(header.name);
        checkRoom(tree.path, header.size, showNames(names));
        return tree.writeFile(names, header.mode, body);
      case 'link': {
        const target = this.#namesOf(header.linkBytes);
        if (names.length === 0 || target.length === 0) throw unrequested(header.name);
        return tree.linkFile(names, target);
      }
      default:
        this.#options.onSkipped(`${showNames(names)} ${describe(header)}: skipped`);
    }
  }

  /** Returns the components of an entry's path relative to the requested path. Throws if the entry is not inside it. */
  #namesOf(bytes: Buffer): Names {
    const path = bytes.toString('latin1');
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    const base = Buffer.from(this.#options.base).toString('latin1');
    if (path.startsWith('/') || names.includes('..')) throw unrequested(bytes.toString('utf8'));
    if (base === '.') return names;
    if (names[0] !== base) throw unrequested(bytes.toString('utf8'));
    return names.slice(1);
  }
}

function unrequested(name: string): PodwrightError {
  return new PodwrightError('invalid_argument', `the container sent ${name}, which was not requested`);
}

function describe({ type, linkName }: TarHeader): string {
  if (type === 'symlink') return `is a symbolic link to ${linkName}`;
  return type === 'fifo' ? 'is a FIFO' : 'is a device';
}
