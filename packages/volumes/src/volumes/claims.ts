import { statSync } from 'node:fs';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KeyedLock, type Logger, OPEN_DIRECTORY, PRIVATE_DIRECTORY } from '@podwright/base';
import { namesInSync, Trash } from '@podwright/host';
import { oneName } from './pod-directories.ts';

/** A claim's directory on the host, which outlives the pods that use it. */
export type ClaimVolume = { namespace: string; name: string; path: string; createdAtMs: number };

/**
 * The directories that claims are bound to: `<rootDir>/claims/<namespace>/<name>`. Each is created when a pod first uses the claim, is
 * writable by everyone, and is retained until the claim is deleted. All state is on disk.
 */
export class ClaimVolumes {
  readonly #root: string;
  readonly #newTrash: () => Trash;
  /** Locks by claim, because pods sharing a claim may call `make` concurrently. */
  readonly #locks = new KeyedLock();
  /** Deletes removed directories. Created on first use. */
  #trash: Trash | undefined;

  constructor(rootDir: string, logger: Logger) {
    this.#root = join(rootDir, 'claims');
    this.#newTrash = () => new Trash(join(rootDir, 'claims-trash'), logger);
  }

  /** Returns a claim's directory, creating it if necessary. It is renamed into place, so that it appears with its final mode. */
  async make(namespace: string, name: string): Promise<string> {
    const path = this.#pathOf(namespace, name);
    return this.#locks.run(path, () => this.#make(path, { namespace, name }));
  }

  async #make(path: string, { namespace, name }: Pick<ClaimVolume, 'namespace' | 'name'>): Promise<string> {
    if (isDirectory(path)) return path;
    const unfinished = join(this.#root, '.new', oneName(namespace), oneName(name));
    await rm(unfinished, { recursive: true, force: true });
    for (const parent of [dirname(unfinished), dirname(path)])
      await mkdir(parent, { recursive: true, mode: PRIVATE_DIRECTORY });
    await mkdir(unfinished, { mode: PRIVATE_DIRECTORY });
    await chmod(unfinished, OPEN_DIRECTORY);
    await rename(unfinished, path);
    return path;
  }

  /** Returns all claims that have a directory. */
  list(): ClaimVolume[] {
    return namesInSync(this.#root)
      .filter((namespace) => !namespace.startsWith('.'))
      .flatMap((namespace) =>
        namesInSync(join(this.#root, namespace)).map((name) => {
          const path = this.#pathOf(namespace, name);
          return { namespace, name, path, createdAtMs: statSync(path).birthtimeMs };
        }),
      );
  }

  /** Removes the claim's directory with its contents. Returns false if there is none. The caller must ensure that no pod uses the claim. */
  remove(namespace: string, name: string): boolean {
    const path = this.#pathOf(namespace, name);
    if (!isDirectory(path)) return false;
    this.#trash ??= this.#newTrash();
    this.#trash.throwAway(path);
    return true;
  }

  /** Waits until removed directories have been deleted. */
  async close(): Promise<void> {
    await this.#trash?.close();
  }

  #pathOf(namespace: string, name: string): string {
    return join(this.#root, oneName(namespace), oneName(name));
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
