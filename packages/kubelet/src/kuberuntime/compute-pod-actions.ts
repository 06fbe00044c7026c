/**
 * Decides what must happen for a pod to be as its specification wants, from what the runtime and the probes say. Pure: the
 * same input gives the same plan, which can be printed. One call plans the next steps only; the pod worker calls again
 * when something has changed.
 */
import type { Container, Pod } from '../api/types.ts';
import { latestContainer, type RuntimeContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { killUnknown, reasonToKill, restartsOnFailure, shouldRestart } from './container-restart.ts';
import { planInitContainers } from './init-container-actions.ts';
import type { ContainerToKill, PodActions, PodActionsInput } from './pod-actions.ts';

export function computePodActions(input: PodActionsInput): PodActions {
  const sandbox = sandboxDecision(input.pod, input.status);
  const plan: PodActions = {
    killPod: sandbox.create,
    createSandbox: sandbox.create,
    sandboxId: sandbox.id,
    attempt: sandbox.attempt,
    containersToKill: [],
    initContainersToStart: [],
    containersToStart: [],
  };
  return sandbox.create ? planFreshStart(input, plan) : planUpdate(input, plan);
}

type SandboxDecision = { create: boolean; id: string | undefined; attempt: number };

/** A new sandbox is needed when there is none that is ready, when several are, or when its network lost its address. */
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

/** The sandbox is gone or was never there: begin at the first init container, unless the pod has done its work. */
function planFreshStart({ pod, status }: PodActionsInput, plan: PodActions): PodActions {
  const startedBefore = plan.attempt !== 0 && status.containers.length > 0;
  if (!restartsOnFailure(pod) && startedBefore) return { ...plan, createSandbox: false };
  const toStart = pod.spec.containers.filter(({ name }) => !hasSucceededForGood(pod, latestContainer(status, name)));
  const everInitialized = pod.spec.containers.some(({ name }) => latestContainer(status, name) !== undefined);
  if (toStart.length === 0 && everInitialized) return { ...plan, createSandbox: false };
  const first = pod.spec.initContainers?.[0];
  if (first !== undefined) return { ...plan, initContainersToStart: [first.name] };
  return { ...plan, containersToStart: toStart.map(({ name }) => name) };
}

function planUpdate(input: PodActionsInput, plan: PodActions): PodActions {
  const { pod, status } = input;
  const init = planInitContainers(input, plan.sandboxId!);
  plan.initContainersToStart = init.start;
  plan.containersToKill = init.kill;
  if (init.failed) return { ...plan, killPod: true, initContainersToStart: [] };
  if (!init.initialized) return plan;
  let kept = 0;
  for (const container of pod.spec.containers) {
    const current = latestContainer(status, container.name);
    const decision = decideContainer(input, container, current);
    if (decision.kill !== undefined) plan.containersToKill.push(decision.kill);
    if (decision.start) plan.containersToStart.push(container.name);
    if (current?.state === 'running' && decision.kill === undefined) kept++;
  }
  if (kept > 0 || plan.containersToStart.length > 0) return plan;
  // The work is done: sidecars must not keep the pod alive.
  return { ...plan, killPod: true, initContainersToStart: [] };
}

type ContainerDecision = { start: boolean; kill?: ContainerToKill };

function decideContainer(
  input: PodActionsInput,
  container: Container,
  current: RuntimeContainer | undefined,
): ContainerDecision {
  const { pod } = input;
  if (current?.state !== 'running') {
    const start = shouldRestart(pod, current);
    return { start, kill: start && current?.state === 'unknown' ? killUnknown(pod, current) : undefined };
  }
  const why = reasonToKill(container, current, input);
  if (why === undefined) return { start: false };
  const start = why.reason === 'definitionChanged' || restartsOnFailure(pod);
  const message = start ? `${why.message}, will be restarted` : why.message;
  return { start, kill: { id: current.id, name: current.name, reason: why.reason, message } };
}

function hasSucceededForGood(pod: Pod, current: RuntimeContainer | undefined): boolean {
  return pod.spec.restartPolicy === 'OnFailure' && current?.state === 'exited' && current.exitCode === 0;
}
