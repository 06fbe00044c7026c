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
  /** The shim's bundle, which differs from the caller's. */
  bundle: z.string(),
  program: shimProgramSchema,
  /** The sandbox whose tasks share a shim; '' for none. */
  group: z.string(),
  cgroupsPath: z.string(),
  terminal: z.boolean(),
  stdin: z.boolean(),
  stdinOnce: z.boolean(),
  logPath: z.string(),
  /** The process that keeps the output FIFOs open. */
  holder: z.number().optional(),
  stdinEnded: z.literal(true).optional(),
  /** The task's first process; set once the shim has created the task. */
  pid: z.number().optional(),
  exit: exitSchema.optional(),
});

/**
 * The record of a shim's task. It is written before any part of the task exists, and removed after the last part. Values that are not known
 * yet are absent.
 */
export type ShimTaskRecord = z.infer<typeof taskSchema>;

/** The records of shims' tasks, one file per task. */
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

  /** The task's record; `undefined` if there is none. Throws `data_loss`, with the file's path, if it is damaged. */
  async read(id: string): Promise<ShimTaskRecord | undefined> {
    return await readRecord(this.path(id), taskSchema);
  }

  /** The task's record. Throws `not_found` if there is none. */
  async get(id: string): Promise<ShimTaskRecord> {
    const record = await this.read(id);
    if (record === undefined) throw new PodwrightError('not_found', `no task ${id}`);
    return record;
  }

  /** Whether another task of the pod has a record. A damaged one does not count: its task ends with the pod's others. */
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
