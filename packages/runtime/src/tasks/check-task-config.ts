import { isAbsolute } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { cgroupPathOf } from '@podwright/host';
import type { TaskConfig } from './task-runtime.ts';

/** Rejects IDs and paths that could refer to other tasks' files, or that conmon would misparse. */
export function checkTaskConfig({ id, bundle, spec, logPath }: TaskConfig): void {
  const refuse = (reason: string) => {
    throw new PodwrightError('invalid_argument', `create task ${JSON.stringify(id)}: ${reason}`);
  };
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,200}$/.test(id)) refuse('its id may only have letters, digits, _ . -');
  if (!isAbsolute(bundle)) refuse(`bundle ${bundle} is not an absolute path`);
  if (!/^\/[^\0]+$/.test(cgroupPathOf(spec.linux.cgroupsPath)))
    refuse(`cgroup path ${spec.linux.cgroupsPath} is not an absolute path below the root`);
  // conmon parses a log path as DRIVER:PATH and truncates it at any further colon
  if (logPath !== '' && (!isAbsolute(logPath) || logPath.includes(':')))
    refuse(`log path ${logPath} is not absolute, or has a colon`);
}
