import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError, wrapError } from '@podwright/base';
import { writeFileAtomicSync } from '@podwright/host';
import * as z from 'zod';
import { fastOci, type OciFastPaths } from '../../oci-runtime/oci-fast-paths.ts';
import type { OciProgram, OciRuntime } from '../../oci-runtime/oci-program.ts';
import { expectedFormat } from '../../oci-runtime/state-files.ts';

/** Format version of task records. Records without a version have the format that preceded version 1. */
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
  /** The cgroup path derived from `linux.cgroupsPath` in the spec. */
  cgroupsPath: z.string(),
  terminal: z.boolean(),
  stdin: z.boolean(),
  stdinOnce: z.boolean(),
  /** Whether the spec contains hooks. If so, the task must be started by the OCI runtime's own program, in order to run them. */
  hooks: z.boolean(),
});

/**
 * A task's record. Written before any part of the task exists and removed after the last one, so that a task left incomplete by a crash can
 * always be found.
 */
export type TaskRecord = Omit<z.infer<typeof recordSchema>, 'version'>;

/**
 * The tasks' files: records and exit codes in shared directories, the rest in one directory per task. The files are small and in memory, so
 * most of them are accessed synchronously, which takes a tenth of the time.
 */
export class TaskFiles {
  readonly records: string;
  /** Directory of exit codes; conmon writes each task's exit code to the file `<id>`. */
  readonly exits: string;
  /** Directory for the PID files of commands running in tasks. */
  readonly execs: string;
  /** Parent of the tasks' directories. */
  readonly bundles: string;
  readonly #state: string;
  readonly #restrict: OciFastPaths['restrict'];

  constructor(state: string, { restrict }: Pick<OciFastPaths, 'restrict'> = fastOci) {
    this.#state = state;
    this.#restrict = restrict;
    this.records = join(state, 'records');
    this.exits = join(state, 'exits');
    this.execs = join(state, 'execs');
    this.bundles = join(state, 'bundles');
  }

  /** Returns the OCI runtime with its state directory, and with shortcuts such as reading state files only if they are enabled. */
  runtime(program: OciProgram): OciRuntime {
    return { ...this.#restrict(program), root: join(this.#state, program.name) };
  }

  /** Returns the directory with a task's files and a link to its configuration. */
  bundle(id: string): string {
    return join(this.bundles, id);
  }

  exit(id: string): string {
    return join(this.exits, id);
  }

  /** Returns a new PID file path for a command in a task. */
  newExec(id: string): string {
    return join(this.execs, `${id}:${randomUUID()}`);
  }

  /** Returns the task ID from a PID file's name. */
  taskOfExec(name: string): string {
    return name.split(':', 1)[0] ?? '';
  }

  write(record: TaskRecord): void {
    writeFileAtomicSync(this.record(record.id), JSON.stringify({ version: RECORD_VERSION, ...record }));
  }

  /** Returns the task's record; `undefined` if there is none. Throws `data_loss` with the path if it is damaged. */
  read(id: string): TaskRecord | undefined {
    const path = this.record(id);
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

  /** Returns the task's record. Throws `not_found` if there is none. */
  get(id: string): TaskRecord {
    const record = this.read(id);
    if (record === undefined) throw new PodwrightError('not_found', `no task ${id}`);
    return record;
  }

  remove(id: string): void {
    rmSync(this.exit(id), { force: true });
    rmSync(this.record(id), { force: true });
  }

  async list(): Promise<string[]> {
    const names = await readdir(this.records);
    return names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
  }

  record(id: string): string {
    return join(this.records, `${id}.json`);
  }
}

function decodeRecord(text: string): TaskRecord {
  const { version, ...record } = recordSchema.parse(JSON.parse(text));
  if (version === RECORD_VERSION) return record;
  // records in the previous format do not contain the format of the OCI runtime's state files: it follows from the OCI runtime's name, and
  // is checked before the files are used
  const { name } = record.program;
  return { ...record, program: { ...record.program, stateFormat: expectedFormat({ name, version: '1.' }) } };
}

/** The files written to a task's directory by the OCI runtime, conmon and Podwright. No others are ever removed from it. */
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

/**
 * Whether a file in a task's directory is one of `BUNDLE_FILES`, or a temporary file for one of them (NAME.XYZ for Podwright and conmon,
 * .NAME for runc).
 */
export function isBundleFile(name: string): boolean {
  const known: string[] = Object.values(BUNDLE_FILES);
  return known.some((own) => name === own || name === `.${own}` || name.startsWith(`${own}.`));
}
