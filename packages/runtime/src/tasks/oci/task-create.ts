import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cgroupPathOf, PRIVATE_DIRECTORY, type ProgramStarter } from '@podwright/base';
import type { OciProgram } from '../../oci-runtime/oci-program.ts';
import type { TaskConfig } from '../task-runtime.ts';
import { startMonitor } from './conmon.ts';
import { BUNDLE_FILES, type TaskFiles, type TaskRecord } from './task-files.ts';

export type TaskCreateDependencies = { start: ProgramStarter; conmon: string; files: TaskFiles; program: OciProgram };

/**
 * Writes the task's record, makes its directory, and has its process created. The OCI runtime is given that directory for a
 * bundle, in which the configuration is a link to the caller's: once the link is removed, a monitor that comes late creates
 * nothing any more. The caller removes what is left of a failure.
 */
export async function createTask(
  { start, conmon, files, program }: TaskCreateDependencies,
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
  await files.write(record);
  mkdirSync(record.bundle, { mode: PRIVATE_DIRECTORY });
  symlinkSync(join(config.bundle, BUNDLE_FILES.config), join(record.bundle, BUNDLE_FILES.config));
  const hasUsers = config.spec.linux.namespaces.some(({ type }) => type === 'user');
  return await startMonitor({ start, conmon, program, files, record, hasUsers, logPath: config.logPath }, signal);
}
