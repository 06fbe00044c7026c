import { PodwrightError } from '@podwright/base';
import type { ContainerResources } from '../records/container-record.ts';
import type { ContainerContext } from './container-context.ts';

/** Changes a container's resource limits: immediately if it is running; otherwise the limits take effect when it is started. */
export async function updateContainer(
  {
    table,
    tasks,
    files,
    specs,
    failpoint,
  }: Pick<ContainerContext, 'table' | 'tasks' | 'files' | 'specs' | 'failpoint'>,
  id: string,
  resources: ContainerResources,
): Promise<void> {
  const record = table.require(id);
  const { phase } = record.state;
  if (phase !== 'created' && phase !== 'running') {
    throw new PodwrightError('failed_precondition', `update container ${id}: it is ${phase}`);
  }
  const changed = {
    ...record,
    config: { ...record.config, resources: mergeResources(record.config.resources, resources) },
  };
  const limits = specs.limits(changed); // throws for unsupported limits, even for a container that is not started yet
  if (phase === 'running') await tasks.update(id, limits);
  await failpoint('container-update/applied');
  const spec = files.spec(id);
  if (spec !== undefined) files.commitSpec(id, specs.withLimits(spec, changed)); // earlier versions of Podwright saved no OCI spec
  await failpoint('container-update/committed');
  table.update(id, (current) => ({ ...current, config: changed.config }));
}

/**
 * Merges an update into the current resource limits. 0, '' and empty lists mean no change; unified cgroup files are merged key by key. As
 * in runc, a memory limit of -1 (unlimited) also removes the memory+swap limit, which would otherwise be lower than the memory limit.
 */
export function mergeResources(current: ContainerResources, change: ContainerResources): ContainerResources {
  const isSet = (value: unknown) =>
    typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== 0 && value !== '';
  const { memoryLimitBytes, memorySwapLimitBytes } = change;
  const lifted = memoryLimitBytes === -1 && memorySwapLimitBytes === 0;
  const set = Object.entries({ ...change, memorySwapLimitBytes: lifted ? -1 : memorySwapLimitBytes }).filter(
    ([, value]) => isSet(value),
  );
  const unified = { ...current.unified, ...change.unified };
  return { ...current, ...Object.fromEntries(set), unified };
}
