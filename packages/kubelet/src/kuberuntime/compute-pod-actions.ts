/**
 * Decides what must happen for a pod to be as its specification wants, from what the runtime and the probes say. Pure: the
 * same input gives the same plan, which can be printed. One call plans the next steps only; the pod worker calls again
 * when something has changed.
 */
import { type Container, isSidecar, type Pod } from '../api/types.ts';
import type { ProbeResult } from '../prober/probe-results.ts';
import { planInitContainers } from './init-container-actions.ts';
import { containerHash } from './labels.ts';
import { latestContainer, type RuntimeContainer, type RuntimePodStatus } from './runtime-pod.ts';

/** Why a container is killed; decides the grace period and the event. */
export type KillReason = 'livenessProbe' | 'startupProbe' | 'definitionChanged' | 'unknownState';

export type ContainerToKill = { id: string; name: string; reason: KillReason; message: string };

/** The next steps of a pod, in the order in which they are done. */
export type PodActions = {
  /** All containers and the sandbox are stopped first. */
  killPod: boolean;
  createSandbox: boolean;
  /** The sandbox to go on with; undefined if there is none or a new one is made. */
  sandboxId: string | undefined;
  /** Attempt number of the sandbox that is made. */
  attempt: number;
  containersToKill: ContainerToKill[];
  /** Names, in the order of the specification. */
  initContainersToStart: string[];
  containersToStart: string[];
};

/** Results of the probes that can end a container, by container id; undefined when there is none. */
export type ProbeAnswers = {
  liveness(containerId: string): ProbeResult | undefined;
  startup(containerId: string): ProbeResult | undefined;
};

export type PodActionsInput = { pod: Pod; status: RuntimePodStatus; probes: ProbeAnswers };

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
  { pod, probes }: PodActionsInput,
  container: Container,
  current: RuntimeContainer | undefined,
): ContainerDecision {
  if (current?.state !== 'running') {
    const start = shouldRestart(pod, current);
    return { start, kill: start && current?.state === 'unknown' ? killUnknown(current) : undefined };
  }
  const why = reasonToKill(container, current, probes);
  if (why === undefined) return { start: false };
  const start = why.reason === 'definitionChanged' || restartsOnFailure(pod);
  const message = start ? `${why.message}, will be restarted` : why.message;
  return { start, kill: { id: current.id, name: current.name, reason: why.reason, message } };
}

/** Why a running container must end, if it must. */
export function reasonToKill(
  container: Container,
  current: RuntimeContainer,
  probes: ProbeAnswers,
): { reason: KillReason; message: string } | undefined {
  const name = container.name;
  if (current.hash !== '' && current.hash !== containerHash(container)) {
    return { reason: 'definitionChanged', message: `Container ${name} definition changed` };
  }
  if (container.livenessProbe !== undefined && probes.liveness(current.id) === 'failure') {
    return { reason: 'livenessProbe', message: `Container ${name} failed liveness probe` };
  }
  if (container.startupProbe !== undefined && probes.startup(current.id) === 'failure') {
    return { reason: 'startupProbe', message: `Container ${name} failed startup probe` };
  }
  return undefined;
}

/** Nobody knows whether it runs, so it is killed before another is started. */
export function killUnknown(container: RuntimeContainer): ContainerToKill {
  const message = 'Container is in an unknown state, try killing it before restart';
  return { id: container.id, name: container.name, reason: 'unknownState', message };
}

/** True unless the pod's restart policy leaves a failed container as it is. */
export function restartsOnFailure(pod: Pod): boolean {
  return pod.spec.restartPolicy !== 'Never';
}

/** Whether an ordinary container that does not run should be started (again). */
export function shouldRestart(pod: Pod, current: RuntimeContainer | undefined): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  if (current === undefined || current.state === 'created' || current.state === 'unknown') return true;
  if (pod.spec.restartPolicy === 'Never') return false;
  return pod.spec.restartPolicy !== 'OnFailure' || current.exitCode !== 0;
}

function hasSucceededForGood(pod: Pod, current: RuntimeContainer | undefined): boolean {
  return pod.spec.restartPolicy === 'OnFailure' && current?.state === 'exited' && current.exitCode === 0;
}

/** The plan in one line, for logs and people. */
export function describePodActions(plan: PodActions): string {
  const steps: string[] = [];
  if (plan.killPod) steps.push('kill the pod');
  for (const { name, reason } of plan.containersToKill) steps.push(`kill ${name} (${reason})`);
  if (plan.createSandbox) steps.push(`create sandbox attempt ${plan.attempt}`);
  for (const name of plan.initContainersToStart) steps.push(`start init container ${name}`);
  for (const name of plan.containersToStart) steps.push(`start container ${name}`);
  return steps.length === 0 ? 'nothing to do' : steps.join(', ');
}

/** True if the plan changes nothing. */
export function isEmptyPlan(plan: PodActions): boolean {
  return describePodActions(plan) === 'nothing to do';
}

/** Sidecars in the order of the specification. */
export function sidecarsOf(pod: Pod): Container[] {
  return (pod.spec.initContainers ?? []).filter(isSidecar);
}
