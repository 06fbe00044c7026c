import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_DIRECTORY, PRIVATE_FILE, type TraceWork } from '@podwright/base';
import { cgroupPathOf, type ProgramStarter } from '@podwright/host';
import type { NamespaceDependencies } from '@podwright/system';
import { startedByOthers } from '../../oci-runtime/covered-call.ts';
import type { OciFastPaths } from '../../oci-runtime/oci-fast-paths.ts';
import type { OciProgram } from '../../oci-runtime/oci-program.ts';
import type { TaskConfig } from '../task-runtime.ts';
import { startMonitor } from './conmon.ts';
import { BUNDLE_FILES, type TaskFiles, type TaskRecord } from './task-files.ts';

export type TaskCreateDependencies = {
  start: ProgramStarter;
  conmon: string;
  files: TaskFiles;
  program: OciProgram;
  filters: ReturnType<OciFastPaths['seccompFilters']>;
  namespaces: NamespaceDependencies;
  trace: TraceWork;
};

/**
 * Writes the task's record, creates its directory, and has conmon and the OCI runtime create its process. The task's directory serves as
 * the OCI runtime's bundle, with a symbolic link to the caller's `config.json`, or a copy of it with the compiled seccomp filter added. A
 * late monitor cannot create anything once that directory has been removed. The caller must clean up after a failure.
 */
export async function createTask(
  { start, conmon, files, program, filters, namespaces, trace }: TaskCreateDependencies,
  config: TaskConfig,
  signal: AbortSignal,
): Promise<number> {
  const record: TaskRecord = {
    id: config.id,
    bundle: files.bundle(config.id),
    program,
    cgroupsPath: cgroupPathOf(config.spec.linux.cgroupsPath),
    terminal: config.terminal,
    stdin: config.stdin,
    stdinOnce: config.stdinOnce,
    hooks: 'hooks' in config.spec,
  };
  files.write(record);
  mkdirSync(record.bundle, { mode: PRIVATE_DIRECTORY });
  const runtime = files.runtime(program);
  const compiled = filters.withCompiled(config.spec, runtime);
  const path = join(record.bundle, BUNDLE_FILES.config);
  if (compiled === undefined) symlinkSync(join(config.bundle, BUNDLE_FILES.config), path);
  else writeFileSync(path, JSON.stringify(compiled), { mode: PRIVATE_FILE, flag: 'wx' });
  const hasUsers = config.spec.linux.namespaces.some(({ type }) => type === 'user');
  using call = startedByOthers(runtime, namespaces);
  const monitor = { start, conmon, program: call.program, files, record, hasUsers, logPath: config.logPath };
  const pid = await trace(`conmon: ${program.name} create`, () => startMonitor(monitor, signal));
  if (compiled === undefined) filters.remember(config.spec, runtime, record.id);
  return pid;
}
