import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, makePrivateDirectory, PodwrightError } from '@podwright/base';
import * as z from 'zod';
import { readRecord, shimProgramSchema, writeRecord } from './record-file.ts';

const SUFFIX = '.json';

const exitSchema = z.object({
  exitCode: z.number(),
  exitedAtMs: z.number(),
  oomKilled: z.boolean(),
  message: z.string().optional(),
});

const taskSchema = z.object({
  id: z.string(),
  /** The shim's bundle directory, separate from the caller's. */
  bundle: z.string(),
  program: shimProgramSchema,
  /** ID of the sandbox, if its tasks share a shim; '' if the shim is not shared. */
  group: z.string(),
  cgroupsPath: z.string(),
  terminal: z.boolean(),
  stdin: z.boolean(),
  stdinOnce: z.boolean(),
  logPath: z.string(),
  /** PID of the process that keeps the output FIFOs open. */
  holder: z.number().optional(),
  stdinEnded: z.literal(true).optional(),
  /** PID of the task's first process. Set once the shim has created the task. */
  pid: z.number().optional(),
  exit: exitSchema.optional(),
});

/**
 * The record of a task run by a shim. Written before any other part of the task exists, and removed after all other parts. Values that are
 * not known yet are absent.
 */
export type ShimTaskRecord = z.infer<typeof taskSchema>;

/** Stores the records of tasks run by shims, one file per task. */
export class ShimTaskFiles {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(directory: string): Promise<ShimTaskFiles> {
    makePrivateDirectory(directory);
    for (const name of await readdir(directory))
      if (!name.endsWith(SUFFIX)) await rm(join(directory, name), { force: true }); // partially written by a killed process
    return new ShimTaskFiles(directory);
  }

  async write(record: ShimTaskRecord): Promise<void> {
    await writeRecord(this.path(record.id), record);
  }

  /** Reads the task's record; returns `undefined` if there is none. Throws `data_loss` with the path if it is damaged. */
  async read(id: string): Promise<ShimTaskRecord | undefined> {
    return await readRecord(this.path(id), taskSchema);
  }

  /** Like `read`, but throws `not_found` if there is no record. */
  async get(id: string): Promise<ShimTaskRecord> {
    const record = await this.read(id);
    if (record === undefined) throw new PodwrightError('not_found', `no task ${id}`);
    return record;
  }

  /**
   * Whether another task of the pod has a record. Damaged records do not count, because a task with a damaged record is stopped along with
   * the pod's other tasks.
   */
  async hasOther({ id, group }: ShimTaskRecord): Promise<boolean> {
    const others = (await this.list()).filter((other) => other !== id);
    const isInGroup = async (other: string) => {
      const record = await this.read(other).catch((error) => {
        if (errorCode(error) !== 'data_loss') throw error;
      });
      return record?.group === group;
    };
    return (await Promise.all(others.map(isInGroup))).includes(true);
  }

  async remove(id: string): Promise<void> {
    await rm(this.path(id), { force: true });
  }

  async list(): Promise<string[]> {
    return (await readdir(this.#directory))
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length));
  }

  path(id: string): string {
    return join(this.#directory, `${id}${SUFFIX}`);
  }
}
