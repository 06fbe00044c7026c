import { accessSync, constants, linkSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isErrno, makePrivateDirectory, wrapError } from '@podwright/base';
import { syncDirectory } from '@podwright/host';
import { lockDirectoryItself } from '@podwright/system';

/**
 * Replaces the program's file. The new program is unpacked next to it, and each step is a single link or rename, so that the file is always
 * one complete version or the other, even after a crash. Anything left behind by a crash is removed by the next upgrade.
 */
export class ProgramSwap implements Disposable {
  /** Path where the new program is unpacked. */
  readonly staged: string;
  readonly #program: string;
  readonly #directory: string;
  readonly #previous: string;
  readonly #unlock: () => void;

  /** Locks the program for this upgrade. Throws `already_exists` if another upgrade is currently replacing the same program. */
  constructor(program: string) {
    this.#program = program;
    this.#directory = join(dirname(program), '.podwright-upgrade');
    this.staged = join(this.#directory, 'podwright');
    this.#previous = join(this.#directory, 'previous');
    try {
      accessSync(dirname(program), constants.W_OK); // mkdir of Node.js reports a read-only file system as ENOENT
    } catch (error) {
      throw wrapError(`replace ${program}`, error);
    }
    makePrivateDirectory(this.#directory);
    this.#unlock = lockDirectoryItself(this.#directory, `another 'podwright upgrade' replaces ${program}`);
    for (const name of readdirSync(this.#directory)) rmSync(join(this.#directory, name));
  }

  /** Replaces the program with the staged one. */
  async replace(): Promise<void> {
    try {
      linkSync(this.#program, this.#previous);
      renameSync(this.staged, this.#program);
    } catch (error) {
      const why = isErrno(error, 'EXDEV') || isErrno(error, 'EBUSY') ? ': the file is a mount point of its own' : '';
      throw wrapError(`replace ${this.#program}${why}`, error);
    }
    await syncDirectory(dirname(this.#program));
  }

  /** Restores the program that was replaced. */
  async restore(): Promise<void> {
    renameSync(this.#previous, this.#program);
    await syncDirectory(dirname(this.#program));
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true });
    this.#unlock();
  }
}
