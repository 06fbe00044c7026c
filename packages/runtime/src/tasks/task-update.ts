import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '@podwright/base';
import type { OciLinuxResources } from '../oci/spec.ts';
import { type OciRuntime, runOciCommand } from './oci-program.ts';
import { bundleFiles, type TaskRecord } from './task-files.ts';

/** Changes the task's limits. By a file: crun cannot read them from a socket, which stdin is. */
export async function updateTask(runtime: OciRuntime, record: TaskRecord, resources: OciLinuxResources): Promise<void> {
  const file = join(record.bundle, bundleFiles.resources);
  await writeFileAtomic(file, JSON.stringify(resources));
  try {
    await runOciCommand(runtime, ['update', '--resources', file, record.id]);
  } finally {
    await rm(file, { force: true });
  }
}
