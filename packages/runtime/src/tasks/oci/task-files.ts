import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError, wrapError, writeFileAtomicSync } from '@podwright/base';
import * as z from 'zod';
import type { OciProgram, OciRuntime } from '../../oci-runtime/oci-program.ts';
import { expectedFormat } from '../../oci-runtime/state-files.ts';

/** Of the records that are written; those without a number are of the format before it. */
const RECORD_VERSION = 1;

const recordSchema = z.object({
  version: z.literal(RECORD_VERSION).optional(),
  id: z.string(),
  bundle: z.string(),
  /** The OCI runtime that owns the task. */
  program: z.object({
    name: z.string(),
    path: z.string(),
    args: z.array(z.string()).optional(),
    stateFormat: z.enum(['runc', 'crun']).optional(),
    covered: z.object({ tree: z.string(), path: z.string(), nsenter: z.string() }).optional(),
  }),
  /** Path of the cgroup that `linux.cgroupsPath` of its spec names. */
  cgroupsPath: z.string(),
  terminal: z.boolean(),
  stdin: z.boolean(),
  stdinOnce: z.boolean(),
  /** The runtime runs hooks at the start, so the program itself must start the task. */
  hooks: z.boolean(),
});

/**
 * What is remembered of a task. Written before anything of the task exists and removed after everything of it is
 * gone, so that a task which a crash left half made or half removed is always found.
 */
export type TaskRecord = Omit<z.infer<typeof recordSchema>, 'version'>;

/**
 * The files of tasks: records and exit codes in directories of the runtime's own, the rest in a directory for each task. They are small
 * and in memory, so most are used synchronously: that takes a tenth of the time.
 */
export class TaskFiles {
  readonly records: string;
  /** conmon writes a task's exit code into the file `<id>` here. */
  readonly exits: string;
  /** Pid files of commands that run in tasks. */
  readonly execs: string;
  /** The tasks' directories. */
  readonly bundles: string;
  readonly #state: string;

  constructor(state: string) {
    this.#state = state;
    this.records = join(state, 'records');
    this.exits = join(state, 'exits');
    this.execs = join(state, 'execs');
    this.bundles = join(state, 'bundles');
  }

  /** The OCI runtime with the directory in which it keeps its own state here. */
  runtime(program: OciProgram): OciRuntime {
    return { ...program, root: join(this.#state, program.name) };
  }

  /** Where a task's own files are, and a link to its configuration. */
  bundle(id: string): string {
    return join(this.bundles, id);
  }

  exit(id: string): string {
    return join(this.exits, id);
  }

  /** A new pid file for a command in a task. */
  newExec(id: string): string {
    return join(this.execs, `${id}:${randomUUID()}`);
  }

  /** The task's id in the name of such a file. */
  taskOfExec(name: string): string {
    return name.split(':', 1)[0] ?? '';
  }

  write(record: TaskRecord): void {
    writeFileAtomicSync(this.#record(record.id), JSON.stringify({ version: RECORD_VERSION, ...record }));
  }

  /** The task's record, `undefined` if there is none; `data_loss`, with the file's path, if it is damaged. */
  read(id: string): TaskRecord | undefined {
    const path = this.#record(id);
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw wrapError(`read the record of task ${id}`, error, 'internal');
    }
    try {
      return decodeRecord(text);
    } catch (error) {
      throw new PodwrightError('data_loss', `read the record of task ${id}: ${path} is damaged`, { cause: error });
    }
  }

  /** The task's record; `not_found` if there is none. */
  get(id: string): TaskRecord {
    const record = this.read(id);
    if (record === undefined) throw new PodwrightError('not_found', `no task ${id}`);
    return record;
  }

  remove(id: string): void {
    rmSync(this.exit(id), { force: true });
    rmSync(this.#record(id), { force: true });
  }

  async list(): Promise<string[]> {
    const names = await readdir(this.records);
    return names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
  }

  #record(id: string): string {
    return join(this.records, `${id}.json`);
  }
}

function decodeRecord(text: string): TaskRecord {
  const { version, ...record } = recordSchema.parse(JSON.parse(text));
  if (version === RECORD_VERSION) return record;
  // Before, a runtime's name was taken for the format of its files, which are looked at before they are used.
  const { name } = record.program;
  return { ...record, program: { ...record.program, stateFormat: expectedFormat({ name, version: '1.' }) } };
}

/** The files that the runtime, conmon and we write into a task's directory. Nothing else in there is ever removed. */
export const BUNDLE_FILES = {
  config: 'config.json',
  pid: 'pid',
  monitorPid: 'conmon.pid',
  attach: 'attach',
  control: 'ctl',
  consoleSocket: 'conmon-term',
  windowSize: 'winsz',
  exit: 'exit',
  oom: 'oom',
  resources: 'resources.json',
} as const;

/** Whether a file of such a directory is one of ours, or one that was being written: we and conmon at NAME.XYZ, runc at .NAME. */
export function isBundleFile(name: string): boolean {
  const known: string[] = Object.values(BUNDLE_FILES);
  return known.some((own) => name === own || name === `.${own}` || name.startsWith(`${own}.`));
}
