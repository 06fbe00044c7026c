/**
 * Plans init containers, which run to completion one at a time. A sidecar is done once it has started and its startup probe, if any, has
 * succeeded; it then keeps running.
 */
import { type Container, hasFailedToPrepare, isSidecar, restartsAfter, restartsWhenKilled } from '@podwright/kube-api';
import { latestContainer, type RuntimeContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { killUnknown, planResize, reasonToKill } from './container-restart.ts';
import type { ContainerToKill, PodActionsInput } from './pod-actions.ts';
import type { ContainerToUpdate } from './resize-actions.ts';

export type InitPlan = {
  /** True if all init containers are done, so the ordinary containers may start. */
  initialized: boolean;
  /** True if an init container has failed and must not be retried, so that the pod fails. */
  failed: boolean;
  start: string[];
  kill: ContainerToKill[];
  update: ContainerToUpdate[];
};

/** Plans the init containers. Only containers in the current sandbox count, because a new sandbox must be initialized again. */
export function planInitContainers(input: PodActionsInput, sandboxId: string): InitPlan {
  const all = input.pod.spec.initContainers ?? [];
  const own = { ...input.status, containers: input.status.containers.filter((one) => one.sandboxId === sandboxId) };
  const plan: InitPlan = { initialized: true, failed: false, start: [], kill: [], update: [] };
  const later = input.pod.spec.containers.some(({ name }) => latestContainer(own, name) !== undefined);
  const reached = later ? all.length : lastReached(all, own);
  for (const [index, container] of all.entries()) {
    const step = planStep(input, container, { current: latestContainer(own, container.name), passed: index < reached });
    if (step.kill !== undefined) plan.kill.push(step.kill);
    if (step.update !== undefined) plan.update.push(step.update);
    if (step.start) plan.start.push(container.name);
    if (step.failed) return { ...plan, failed: true, initialized: false, start: [] };
    if (!step.done) return { ...plan, initialized: false };
  }
  return plan;
}

/**
 * Returns the index of the last init container created so far. All earlier ones are done, even if they have been removed from the container
 * runtime.
 */
function lastReached(all: Container[], own: RuntimePodStatus): number {
  return all.findLastIndex(({ name }) => latestContainer(own, name) !== undefined);
}

type Step = { done: boolean; start?: boolean; failed?: boolean; kill?: ContainerToKill; update?: ContainerToUpdate };

type Place = {
  current: RuntimeContainer | undefined;
  /** True if a later init container has already been created, so this one is done. */
  passed: boolean;
};

function planStep(input: PodActionsInput, container: Container, place: Place): Step {
  return isSidecar(container) ? planSidecar(input, container, place) : planRunToEnd(input, container, place);
}

function planRunToEnd(input: PodActionsInput, container: Container, { current, passed }: Place): Step {
  if (passed) return { done: true };
  switch (current?.state) {
    case undefined:
    case 'created': // containers are created and started in one step, so its start failed
      return { done: false, start: true };
    case 'running':
      return { done: false, update: planResize(input, container, current).update };
    case 'unknown':
      if (!restartsWhenKilled(input.pod, container)) return { done: false, failed: true };
      return { done: false, start: true, kill: killUnknown(input.pod, current) };
    case 'exited':
      if (!hasFailedToPrepare(current)) return { done: true };
      return restartsAfter(input.pod, container, current.exitCode)
        ? { done: false, start: true }
        : { done: false, failed: true };
  }
}

function planSidecar(input: PodActionsInput, container: Container, { current, passed }: Place): Step {
  switch (current?.state) {
    case undefined:
    case 'created':
    case 'exited':
      return { done: passed, start: true };
    case 'unknown':
      return { done: passed, start: true, kill: killUnknown(input.pod, current) };
    case 'running': {
      const why = reasonToKill(container, current, input);
      if (why !== undefined) {
        const kill = { id: current.id, name: current.name, ...why };
        return { done: passed, start: true, kill };
      }
      const { update, kill, start } = planResize(input, container, current);
      const started = container.startupProbe === undefined || input.probes.startup(current.id) === 'success';
      return { done: passed || started, start, kill, update };
    }
  }
}
