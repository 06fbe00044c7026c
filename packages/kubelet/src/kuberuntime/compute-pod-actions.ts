/**
 * Plans the next steps that bring a pod in line with its spec, based on the pod's status in the container runtime and the probe results.
 * Pure: the same input yields the same plan, which can be printed. Only the next steps are planned; the pod worker calls again once
 * something has changed.
 */
import { type Container, type Pod, restartsAllContainers, restartsWhenKilled } from '@podwright/kube-api';
import { latestContainer, type RuntimeContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { killUnknown, planResize, reasonToKill, shouldRestart } from './container-restart.ts';
import { planInitContainers } from './init-container-actions.ts';
import {
  type ContainerToKill,
  type ContainerToReset,
  emptyPlan,
  type PodActions,
  type PodActionsInput,
} from './pod-actions.ts';
import type { ContainerToUpdate } from './resize-actions.ts';

export function computePodActions(input: PodActionsInput): PodActions {
  const sandbox = sandboxDecision(input.pod, input.status);
  const plan: PodActions = {
    ...emptyPlan(),
    killPod: sandbox.create,
    createSandbox: sandbox.create,
    sandboxId: sandbox.id,
    attempt: sandbox.attempt,
  };
  if (input.restartAllContainers) return { ...plan, containersToReset: containersToReset(input) };
  return sandbox.create ? planFreshStart(input, plan) : planUpdate(input, plan);
}

type SandboxDecision = { create: boolean; id: string | undefined; attempt: number };

/**
 * Decides whether to create a sandbox, which is needed if the newest one is not ready or has no address, several are ready, or
 * `hostNetwork` has changed.
 */
function sandboxDecision(pod: Pod, { sandboxes }: RuntimePodStatus): SandboxDecision {
  const newest = sandboxes[0];
  if (newest === undefined) return { create: true, id: undefined, attempt: 0 };
  const ready = sandboxes.filter((sandbox) => sandbox.ready);
  const hostNetwork = pod.spec.hostNetwork === true;
  const changed =
    ready.length > 1 ||
    !newest.ready ||
    newest.hostNetwork !== hostNetwork ||
    (!hostNetwork && newest.ips.length === 0);
  return { create: changed, id: newest.id, attempt: changed ? newest.attempt + 1 : newest.attempt };
}

/** Plans the start of a pod that has no usable sandbox, beginning with the first init container, unless the pod has already completed. */
function planFreshStart({ pod, status }: PodActionsInput, plan: PodActions): PodActions {
  const startedBefore = plan.attempt !== 0 && status.containers.length > 0;
  if (pod.spec.restartPolicy === 'Never' && startedBefore) return { ...plan, createSandbox: false };
  const toStart = pod.spec.containers.filter(
    (container) => !hasSucceededForGood(pod, container, latestContainer(status, container.name)),
  );
  const everInitialized = pod.spec.containers.some(({ name }) => latestContainer(status, name) !== undefined);
  if (toStart.length === 0 && everInitialized) return { ...plan, createSandbox: false };
  const first = pod.spec.initContainers?.[0];
  if (first !== undefined) return { ...plan, initContainersToStart: [first.name] };
  return { ...plan, containersToStart: toStart.map(({ name }) => name) };
}

function planUpdate(input: PodActionsInput, plan: PodActions): PodActions {
  const { pod, status } = input;
  // ephemeral containers may start before the pod is initialized, and do not keep it running
  plan.ephemeralContainersToStart = (pod.spec.ephemeralContainers ?? [])
    .map(({ name }) => name)
    .filter((name) => latestContainer(status, name) === undefined && !input.hasEnded?.(name));
  const init = planInitContainers(input, plan.sandboxId!);
  plan.initContainersToStart = init.start;
  plan.containersToKill = init.kill;
  plan.containersToUpdate = init.update;
  if (init.failed) return endPod(plan);
  if (!init.initialized) return plan;
  let running = 0;
  for (const container of pod.spec.containers) {
    const current = latestContainer(status, container.name);
    const decision = decideContainer(input, container, current);
    if (decision.kill !== undefined) plan.containersToKill.push(decision.kill);
    if (decision.update !== undefined) plan.containersToUpdate.push(decision.update);
    if (decision.start) plan.containersToStart.push(container.name);
    if (current?.state === 'running' && decision.kill === undefined) running++;
  }
  if (running > 0 || plan.containersToStart.length > 0) return plan;
  // all ordinary containers have completed, so stop the sidecars too
  return endPod(plan);
}

function endPod(plan: PodActions): PodActions {
  return { ...plan, killPod: true, initContainersToStart: [], ephemeralContainersToStart: [], containersToUpdate: [] };
}

type ContainerDecision = { start: boolean; kill?: ContainerToKill; update?: ContainerToUpdate };

function decideContainer(
  input: PodActionsInput,
  container: Container,
  current: RuntimeContainer | undefined,
): ContainerDecision {
  const { pod } = input;
  if (current?.state !== 'running') {
    const start = shouldRestart(pod, container, current);
    return { start, kill: start && current?.state === 'unknown' ? killUnknown(pod, current) : undefined };
  }
  const why = reasonToKill(container, current, input);
  if (why === undefined) return planResize(input, container, current);
  const start = why.reason === 'definitionChanged' || restartsWhenKilled(pod, container);
  const message = start ? `${why.message}, will be restarted` : why.message;
  return { start, kill: { id: current.id, name: current.name, reason: why.reason, message } };
}

function hasSucceededForGood(pod: Pod, container: Container, current: RuntimeContainer | undefined): boolean {
  const policy = container.restartPolicy ?? pod.spec.restartPolicy;
  return policy === 'OnFailure' && current?.state === 'exited' && current.exitCode === 0;
}

/**
 * Returns every instance of every container except ephemeral ones, for restarting all containers. Those whose exit triggered the restart
 * come last: if the kubelet itself restarts halfway through, it still finds the trigger.
 */
function containersToReset({ pod, status }: PodActionsInput): ContainerToReset[] {
  const causes: ContainerToReset[] = [];
  const others: ContainerToReset[] = [];
  for (const container of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) {
    for (const { id, name, state, exitCode } of status.containers) {
      if (name !== container.name) continue;
      const cause = state === 'exited' && restartsAllContainers(container, exitCode);
      (cause ? causes : others).push({ id, name, kill: state !== 'exited' });
    }
  }
  return [...others, ...causes];
}
