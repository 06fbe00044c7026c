import { isUnimplemented, PodwrightError, shownError } from '@podwright/base';
import type { LinuxContainerResources } from '@podwright/cri';
import { type Container, everyContainer, type Pod, withPodLimits } from '@podwright/kube-api';
import { podOverhead, podResources } from '../cgroups/pod-resources.ts';
import { limitOf } from '../cgroups/qos.ts';
import { describePod } from '../kubecontainer/pod-identity.ts';
import type { StepResult } from '../kubecontainer/sync-result.ts';
import { containerResources } from './container-resources.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';
import type { PodActions } from './pod-actions.ts';
import { type ContainerToUpdate, type ResizedResource, updateOrder, withResource } from './resize-actions.ts';

/** Dependencies for resizing containers. */
export type ResizeDependencies = Pick<KuberuntimeDependencies, 'actuated' | 'cri' | 'node' | 'tracer'>;

/**
 * Resizes running containers in place: memory before CPU, decreases before increases. The pod's cgroup must already allow both the old and
 * the new amounts. Stops at the first failure; the next sync continues from there.
 */
export async function resizePod(
  deps: ResizeDependencies,
  { pod, plan }: { pod: Pod; plan: PodActions },
  signal: AbortSignal,
): Promise<StepResult[]> {
  const restarts = plan.containersToKill.some(({ reason }) => reason === 'resize');
  if (plan.containersToUpdate.length === 0 && !restarts) return [];
  const step: StepResult = { action: 'ResizePodInPlace', target: describePod(pod) };
  const { uid } = pod.metadata;
  try {
    await deps.tracer.span(uid, 'resize', async () => {
      await refuseBelowUse(deps, pod, { updates: plan.containersToUpdate, signal });
      await deps.actuated.begin(uid, plan.containersToUpdate);
      await updateSandbox(deps, pod, { id: plan.sandboxId, signal });
      for (const resource of ['memory', 'cpu'] as const)
        for (const update of updateOrder(plan.containersToUpdate, resource))
          await updateContainer(deps, pod, { update, resource, signal });
      for (const { id, from } of plan.containersToUpdate)
        deps.actuated.complete(uid, id, { ...(deps.actuated.updated(uid, id) ?? from), pod: pod.spec.resources });
    });
    return [step];
  } catch (error) {
    signal.throwIfAborted();
    return [{ ...step, error: { reason: 'ResizePodInPlaceError', message: shownError(error) } }];
  }
}

/**
 * Passes the pod's resources to its sandbox, for container runtimes that size a virtual machine accordingly. Other container runtimes may
 * not implement this call.
 */
async function updateSandbox(
  { cri, node }: ResizeDependencies,
  pod: Pod,
  { id, signal }: { id: string | undefined; signal: AbortSignal },
): Promise<void> {
  if (id === undefined) return;
  const amounts = { overhead: podOverhead(pod, node), resources: podResources(pod, node) };
  try {
    await cri.runtime.updatePodSandboxResources({ podSandboxId: id, ...amounts }, { signal });
  } catch (error) {
    if (!isUnimplemented(error)) throw error;
  }
}

type Update = { update: ContainerToUpdate; resource: ResizedResource; signal: AbortSignal };

async function updateContainer(
  deps: ResizeDependencies,
  pod: Pod,
  { update, resource, signal }: Update,
): Promise<void> {
  const { id, name, from, to } = update;
  const given = deps.actuated.updated(pod.metadata.uid, id) ?? from;
  const resources = withResource(given, to, resource);
  const container: Container = { ...containerNamed(pod, name), resources };
  const spec = { ...pod.spec, resources: resources.pod };
  const linux = withoutLimits(containerResources({ ...pod, spec }, container, deps.node));
  await deps.cri.runtime.updateContainerResources({ containerId: id, linux }, { signal });
  deps.actuated.progress(pod.metadata.uid, id, resources);
}

/** Replaces 0, which container runtimes interpret as "unchanged", with -1, which removes the limit. */
function withoutLimits(linux: LinuxContainerResources): LinuxContainerResources {
  const { cpuPeriod, cpuQuota, memoryLimitInBytes } = linux;
  return {
    ...linux,
    cpuQuota: cpuPeriod !== 0n && cpuQuota === 0n ? -1n : cpuQuota,
    memoryLimitInBytes: memoryLimitInBytes === 0n ? -1n : memoryLimitInBytes,
  };
}

/** Rejects a memory limit below current usage. The kernel would otherwise either reject it too or enforce it by killing processes. */
async function refuseBelowUse(
  { cri }: ResizeDependencies,
  pod: Pod,
  { updates, signal }: { updates: ContainerToUpdate[]; signal: AbortSignal },
): Promise<void> {
  const shrinking = updates.filter(({ resources }) =>
    resources.some(({ resource, change }) => resource === 'memory' && change === 'less'),
  );
  for (const { id, name } of shrinking) {
    const limit = limitOf(withPodLimits(containerNamed(pod, name), pod.spec), 'memory');
    if (limit === 0n) continue;
    const { stats } = await cri.runtime.containerStats({ containerId: id }, { signal });
    const used = stats?.memory?.usageBytes?.value ?? stats?.memory?.workingSetBytes?.value;
    const why =
      used === undefined
        ? `missing container "${name}" memory usage`
        : `attempting to set container "${name}" memory limit (${limit}) below current usage (${used})`;
    if (used === undefined || used >= limit)
      throw new PodwrightError('failed_precondition', `cannot decrease memory limits: ${why}`);
  }
}

function containerNamed(pod: Pod, containerName: string): Container {
  return everyContainer(pod.spec).find(({ name }) => name === containerName)!;
}
