import { mkdirSync, symlinkSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { PodwrightError, PRIVATE_DIRECTORY, type ProgramStarter, refuseSystemdCgroup } from '@podwright/base';
import type { OciProgram } from '../../oci-runtime/oci-program.ts';
import type { TaskConfig } from '../task-runtime.ts';
import { startMonitor } from './conmon.ts';
import { bundleFiles, type TaskFiles, type TaskRecord } from './task-files.ts';

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
    cgroupsPath: config.spec.linux.cgroupsPath,
    terminal: config.terminal,
    stdin: config.stdin,
    stdinOnce: config.stdinOnce,
    hooks: 'hooks' in config.spec,
  };
  await files.write(record);
  mkdirSync(record.bundle, { mode: PRIVATE_DIRECTORY });
  symlinkSync(join(config.bundle, bundleFiles.config), join(record.bundle, bundleFiles.config));
  return await startMonitor({ start, conmon, program, files, record, logPath: config.logPath }, signal);
}

/** Refuses what could name files outside of the task's own, or what conmon would misread. */
export function checkTaskConfig({ id, bundle, spec, logPath }: TaskConfig): void {
  const refuse = (reason: string) => {
    throw new PodwrightError('invalid_argument', `create task ${JSON.stringify(id)}: ${reason}`);
  };
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,200}$/.test(id)) refuse('its id may only have letters, digits, _ . -');
  if (!isAbsolute(bundle)) refuse(`bundle ${bundle} is not an absolute path`);
  refuseSystemdCgroup(spec.linux.cgroupsPath);
  if (!/^\/[^\0]+$/.test(spec.linux.cgroupsPath))
    refuse(`cgroup path ${spec.linux.cgroupsPath} is not an absolute path below the root`);
  // conmon takes a log path as DRIVER:PATH and cuts it at a further colon.
  if (logPath !== '' && (!isAbsolute(logPath) || logPath.includes(':')))
    refuse(`log path ${logPath} is not absolute, or has a colon`);
}
