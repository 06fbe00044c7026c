import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, makePrivateDirectory, PodwrightError, wrapError, writeFileAtomic } from '@podwright/base';
import type { ShimProgram } from '@podwright/shim';
import type { TaskExit } from '../task-runtime.ts';

/**
 * What is remembered of a shim's task. Written before anything of the task exists and removed after everything of it is
 * gone; what is not known yet is absent.
 */
export type ShimTaskRecord = {
  id: string;
  /** Of the shim's own kind of bundles, not the caller's. */
  bundle: string;
  program: ShimProgram;
  /** The sandbox whose tasks share a shim; '' for none. */
  group: string;
  cgroupsPath: string;
  terminal: boolean;
  stdin: boolean;
  stdinOnce: boolean;
  logPath: string;
  /** The process that holds the output's FIFOs. */
  holder?: number;
  stdinEnded?: true;
  /** The shim knows the task, whose first process this is. */
  pid?: number;
  exit?: TaskExit;
};

/** The records of shims' tasks, a file each. */
export class ShimTaskFiles {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(directory: string): Promise<ShimTaskFiles> {
    makePrivateDirectory(directory);
    for (const name of await readdir(directory))
      if (!name.endsWith(suffix)) await rm(join(directory, name), { force: true }); // half written when we were killed
    return new ShimTaskFiles(directory);
  }

  async write(record: ShimTaskRecord): Promise<void> {
    await writeFileAtomic(this.#path(record.id), JSON.stringify(record));
  }

  /** The task's record, `undefined` if there is none. */
  async read(id: string): Promise<ShimTaskRecord | undefined> {
    try {
      return JSON.parse(await readFile(this.#path(id), 'utf8')) as ShimTaskRecord;
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw wrapError(`read the record of task ${id}`, error, 'internal');
    }
  }

  /** The task's record; `not_found` if there is none. */
  async get(id: string): Promise<ShimTaskRecord> {
    const record = await this.read(id);
    if (record === undefined) throw new PodwrightError('not_found', `no task ${id}`);
    return record;
  }

  async remove(id: string): Promise<void> {
    await rm(this.#path(id), { force: true });
  }

  async list(): Promise<string[]> {
    return (await readdir(this.#directory))
      .filter((name) => name.endsWith(suffix))
      .map((name) => name.slice(0, -suffix.length));
  }

  #path(id: string): string {
    return join(this.#directory, `${id}${suffix}`);
  }
}

const suffix = '.json';
