import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_DIRECTORY, PRIVATE_FILE, type ProgramStarter } from '@podwright/base';
import type { OciProgram } from '../../oci-runtime/oci-program.ts';
import type { TaskConfig } from '../task-runtime.ts';
import { startMonitor } from './conmon.ts';
import { BUNDLE_FILES, type TaskFiles, type TaskRecord } from './task-files.ts';

export type TaskCreateDependencies = { start: ProgramStarter; conmon: string; files: TaskFiles; program: OciProgram };

/** Writes the task's record and bundle, and has its process created. The caller removes what is left of a failure. */
export async function createTask(
  { start, conmon, files, program }: TaskCreateDependencies,
  config: TaskConfig,
  signal: AbortSignal,
): Promise<number> {
  const record: TaskRecord = {
    id: config.id,
    bundle: config.bundle,
    program,
    cgroupsPath: config.spec.linux.cgroupsPath,
    terminal: config.terminal,
    stdin: config.stdin,
    stdinOnce: config.stdinOnce,
    hooks: 'hooks' in config.spec,
  };
  await files.write(record);
  mkdirSync(config.bundle, { recursive: true, mode: PRIVATE_DIRECTORY });
  writeFileSync(join(config.bundle, BUNDLE_FILES.config), JSON.stringify(config.spec), { mode: PRIVATE_FILE });
  return await startMonitor({ start, conmon, program, files, record, logPath: config.logPath }, signal);
}
