import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError, wrapError, writeFileAtomic } from '@podwright/base';
import type { OciProgram, OciRuntime } from '../../oci-runtime/oci-program.ts';

/**
 * What is remembered of a task. Written before anything of the task exists and removed after everything of it is
 * gone, so that a task which a crash left half made or half removed is always found.
 */
export type TaskRecord = {
  id: string;
  /** Its directory (`TaskFiles.bundle`); that of a task of an earlier version is the caller's bundle. */
  bundle: string;
  /** The OCI runtime that owns the task. */
  program: OciProgram;
  /** `linux.cgroupsPath` of its spec. */
  cgroupsPath: string;
  terminal: boolean;
  stdin: boolean;
  stdinOnce: boolean;
  /** The runtime runs hooks at the start, so the program itself must start the task. */
  hooks: boolean;
};

/**
 * The files of tasks: records and exit codes in folders of the runtime's own, the rest in a directory for each task. They are small
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

  /** The OCI runtime with the folder in which it keeps its own state here. */
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

  async write(record: TaskRecord): Promise<void> {
    await writeFileAtomic(this.#record(record.id), JSON.stringify(record));
  }

  /** The task's record, `undefined` if there is none. */
  read(id: string): TaskRecord | undefined {
    try {
      return JSON.parse(readFileSync(this.#record(id), 'utf8')) as TaskRecord;
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw wrapError(`read the record of task ${id}`, error, 'internal');
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

/** The files that the runtime, conmon and we write into a task's directory. Nothing else in there is ever removed. */
export const bundleFiles = {
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

/** Whether a file of such a directory is one of ours, or one that somebody was writing: we and conmon at NAME.XYZ, runc at .NAME. */
export function isBundleFile(name: string): boolean {
  const known: string[] = Object.values(bundleFiles);
  return known.some((own) => name === own || name === `.${own}` || name.startsWith(`${own}.`));
}
