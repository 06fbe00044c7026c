import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type CgroupHierarchy, setCgroupLimits, treeOf, writeFileAtomic } from '@podwright/host';
import type { OciLinuxResources } from '@podwright/oci';
import { type OciRuntime, runOciCommand } from '../../oci-runtime/oci-program.ts';
import { BUNDLE_FILES, type TaskRecord } from './task-files.ts';

export type UpdateEnvironment = { runtime: OciRuntime; cgroups: CgroupHierarchy };

/**
 * Changes the task's limits. They are passed to the OCI runtime in a file rather than on stdin: stdin would be a socket, from which crun
 * cannot read them.
 */
export async function updateTask(
  { runtime, cgroups }: UpdateEnvironment,
  record: TaskRecord,
  resources: OciLinuxResources,
): Promise<void> {
  const file = join(record.bundle, BUNDLE_FILES.resources);
  const { cpu, ...others } = resources;
  const removesQuota = mustRemoveQuota({ runtime, cgroups }, cpu?.quota);
  const remaining = removesQuota ? { ...others, cpu: { ...cpu, quota: undefined } } : resources;
  await writeFileAtomic(file, JSON.stringify(remaining));
  try {
    if (removesQuota) await setCgroupLimits(cgroups, record.cgroupsPath, { cpuQuotaUs: -1 });
    await runOciCommand(runtime, ['update', '--resources', file, record.id]);
  } finally {
    await rm(file, { force: true });
  }
}

/**
 * Whether this process must remove the CPU quota itself. On cgroup v1, crun 1.8 fails to remove it, because it writes the largest integer,
 * which the kernel rejects. Other OCI runtimes have to do it themselves: runc would restore its last quota on each update that has none.
 */
function mustRemoveQuota({ runtime, cgroups }: UpdateEnvironment, quota: number | undefined): boolean {
  return runtime.name === 'crun' && quota !== undefined && quota < 0 && treeOf(cgroups, 'cpu')?.version === 1;
}
