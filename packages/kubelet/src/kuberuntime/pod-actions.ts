import type { Pod } from '../api/types.ts';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { ProbeResult } from '../prober/probe-results.ts';

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
