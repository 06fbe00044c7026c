import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, errorMessage, type Logger } from '@podwright/base';
import { cgroupPathOf } from '@podwright/host';
import { readCommandLine } from '@podwright/system';
import type { OciProgram } from '../../oci-runtime/oci-program.ts';
import { readSpec } from '../bundle.ts';
import type { TaskFiles, TaskRecord } from './task-files.ts';
import { findMonitor } from './task-state.ts';

/**
 * Rebuilds damaged records from the task's directory, its monitor and the OCI runtimes' state, because a task without a record could not be
 * stopped or removed. A record that cannot be rebuilt is logged and left as is. `programs` are the OCI runtimes that might own tasks,
 * starting with the default one.
 */
export async function rebuildDamagedRecords(files: TaskFiles, programs: OciProgram[], logger: Logger): Promise<void> {
  for (const id of await files.list()) {
    try {
      files.read(id);
    } catch (damage) {
      const fields = { task: id, error: errorMessage(damage) };
      const record = errorCode(damage) === 'data_loss' ? await rebuild(files, id, programs).catch(ignore) : undefined;
      if (record !== undefined) files.write(record);
      logger.error(
        fields,
        record === undefined ? 'cannot read the record of a task' : 'rebuilt the damaged record of a task',
      );
    }
  }
}

const ignore = () => undefined;

/** Rebuilds a task's record. Returns `undefined` if the task's OCI spec is missing, because its cgroup is then unknown. */
async function rebuild(files: TaskFiles, id: string, programs: OciProgram[]): Promise<TaskRecord | undefined> {
  const bundle = files.bundle(id);
  const spec = readSpec(bundle);
  const program = programs.find((one) => existsSync(join(files.runtime(one).root, id))) ?? programs[0];
  if (spec === undefined || program === undefined) return undefined;
  const cgroupsPath = cgroupPathOf(spec.linux.cgroupsPath);
  const record = { id, bundle, program, cgroupsPath, terminal: spec.process.terminal, hooks: 'hooks' in spec };
  const monitor = await findMonitor({ ...record, stdin: false, stdinOnce: false });
  const argv = monitor === undefined ? [] : await readCommandLine(monitor);
  const stdin = argv.includes('--stdin');
  return { ...record, stdin, stdinOnce: stdin && !argv.includes('--leave-stdin-open') };
}
