import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type CgroupHierarchy, setCgroupLimits, treeOf, writeFileAtomic } from '@podwright/base';
import type { OciLinuxResources } from '../../oci/spec.ts';
import { type OciRuntime, runOciCommand } from '../../oci-runtime/oci-program.ts';
import { BUNDLE_FILES, type TaskRecord } from './task-files.ts';

/** What an update works with. */
export type UpdateEnvironment = { runtime: OciRuntime; cgroups: CgroupHierarchy };

/** Changes the task's limits. By a file: crun cannot read them from a socket, which stdin is. */
export async function updateTask(
  { runtime, cgroups }: UpdateEnvironment,
  record: TaskRecord,
  resources: OciLinuxResources,
): Promise<void> {
  const file = join(record.bundle, BUNDLE_FILES.resources);
  const { cpu, ...others } = resources;
  const lifted = isLiftedHere({ runtime, cgroups }, cpu?.quota);
  const left = lifted ? { ...others, cpu: { ...cpu, quota: undefined } } : resources;
  await writeFileAtomic(file, JSON.stringify(left));
  try {
    if (lifted) await setCgroupLimits(cgroups, record.cgroupsPath, { cpuQuotaUs: -1 });
    await runOciCommand(runtime, ['update', '--resources', file, record.id]);
  } finally {
    await rm(file, { force: true });
  }
}

/**
 * crun 1.8 cannot take a CPU quota away in cgroup v1: it writes the largest number there is, which the kernel refuses. Others
 * must hear of it: runc sets its last quota again when it is not given a new one.
 */
function isLiftedHere({ runtime, cgroups }: UpdateEnvironment, quota: number | undefined): boolean {
  return runtime.name === 'crun' && quota !== undefined && quota < 0 && treeOf(cgroups, 'cpu')?.version === 1;
}
