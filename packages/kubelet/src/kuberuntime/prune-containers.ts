import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, isNotFound, shownError } from '@podwright/base';
import { namesIn } from '@podwright/host';
import { type Pod, restartsAllContainers } from '@podwright/kube-api';
import { describePod, podIdentity } from '../kubecontainer/pod-identity.ts';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { StepResult } from '../kubecontainer/sync-result.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';
import { type KillContainerDependencies, killContainer } from './kill-container.ts';
import type { PodActions } from './pod-actions.ts';
import { podLogDirectory } from './pod-sandbox-config.ts';

/** Dependencies for removing a pod's containers. */
export type PruneDependencies = KillContainerDependencies &
  Pick<KuberuntimeDependencies, 'crashBackoff' | 'logger' | 'podLogsDir'>;

type PruneRequest = { pod: Pod; status: RuntimePodStatus; plan: PodActions };

/**
 * Removes exited init containers from the container runtime: all of them before a new sandbox is created, otherwise all but the last run of
 * each. The last run's log is always retained, because the restart count is derived from it. Failed removals are left to garbage
 * collection.
 */
export async function pruneInitContainers(deps: PruneDependencies, { pod, status, plan }: PruneRequest): Promise<void> {
  for (const { name } of pod.spec.initContainers ?? []) {
    const ended = status.containers.filter(
      (one) => one.name === name && (plan.createSandbox || one.state === 'exited' || one.state === 'unknown'),
    );
    const outdated = plan.createSandbox ? ended : ended.slice(1);
    if (outdated.length === 0) continue;
    try {
      for (const { id } of outdated) await deps.cri.runtime.removeContainer({ containerId: id });
      await removeLogsBefore(deps, pod, ended[0]!);
    } catch (error) {
      if (isNotFound(error)) continue;
      const fields = { pod: describePod(pod), container: name, error: errorMessage(error) };
      deps.logger.warn(fields, 'an init container that ended could not be removed');
    }
  }
}

async function removeLogsBefore(
  { podLogsDir }: PruneDependencies,
  pod: Pod,
  { name, restartCount }: RuntimeContainer,
): Promise<void> {
  const directory = join(podLogDirectory(podLogsDir, podIdentity(pod)), name);
  const outdated = (await namesIn(directory)).filter((file) => {
    const attempt = /^(\d{1,9})\.log/.exec(file)?.[1];
    return attempt !== undefined && Number(attempt) < restartCount;
  });
  await Promise.all(outdated.map((file) => rm(join(directory, file), { force: true })));
}

/**
 * Removes every container of a pod in order to restart all of them. Running ones are killed without a grace period; logs are retained.
 * Stops at the first failure, because the container that triggered the restart comes last and must exist until all others are gone.
 */
export async function resetContainers(
  deps: PruneDependencies,
  { pod, status, plan }: PruneRequest,
  signal: AbortSignal,
): Promise<StepResult[]> {
  const steps: StepResult[] = [];
  for (const { id, name, kill } of plan.containersToReset) {
    const step: StepResult = { action: 'RemoveContainer', target: name };
    const spec = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find((one) => one.name === name)!;
    try {
      const ended = status.containers.find((one) => one.id === id && one.state === 'exited');
      // record the exit, so that a container that keeps triggering restarts is subject to crash back-off
      if (ended !== undefined && restartsAllContainers(spec, ended.exitCode))
        deps.crashBackoff.note({ pod, container: spec, status });
      if (kill)
        await killContainer(
          deps,
          { pod, spec, id, name, message: 'killing', gracePeriodSeconds: 0, podIps: [] },
          signal,
        );
      await deps.cri.runtime.removeContainer({ containerId: id });
      steps.push(step);
    } catch (error) {
      signal.throwIfAborted();
      if (isNotFound(error)) continue;
      return [...steps, { ...step, error: { reason: 'RemoveContainerError', message: shownError(error) } }];
    }
  }
  return steps;
}
