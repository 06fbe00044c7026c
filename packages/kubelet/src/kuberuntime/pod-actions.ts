import type { Pod } from '@podwright/kube-api';
import type { GivenResources, RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { ProbeResult } from '../prober/probe-results.ts';
import type { ContainerToUpdate } from './resize-actions.ts';

/** Why a container is killed, which determines the grace period and the event. */
export type KillReason =
  | 'livenessProbe'
  | 'startupProbe'
  | 'definitionChanged'
  | 'resize'
  | 'restartRequested'
  | 'unknownState';

export type ContainerToKill = { id: string; name: string; reason: KillReason; message: string };

export type ContainerToReset = { id: string; name: string; kill: boolean };

/** The next steps for a pod, in execution order. */
export type PodActions = {
  /** Whether to stop all of the pod's containers and its sandbox first. */
  killPod: boolean;
  createSandbox: boolean;
  /** ID of the pod's existing sandbox; `undefined` if there is none. */
  sandboxId: string | undefined;
  /** Attempt number of the sandbox to create. */
  attempt: number;
  containersToKill: ContainerToKill[];
  /**
   * Every container of the pod, if all of them are to be restarted in the same sandbox. Running ones are killed first, then all are
   * removed.
   */
  containersToReset: ContainerToReset[];
  ephemeralContainersToStart: string[];
  /** Names of the init containers to start, in spec order. */
  initContainersToStart: string[];
  /** Running containers whose CPU or memory changes. */
  containersToUpdate: ContainerToUpdate[];
  containersToStart: string[];
};

/** Results of probes that can kill a container, by container ID; `undefined` if there is no result. */
export type ProbeAnswers = {
  liveness(containerId: string): ProbeResult | undefined;
  startup(containerId: string): ProbeResult | undefined;
};

export type PodActionsInput = {
  pod: Pod;
  status: RuntimePodStatus;
  probes: ProbeAnswers;
  /** Whether a client has requested a restart of the container with this ID. */
  restartRequested?: (containerId: string) => boolean;
  /** Whether an ephemeral container has exited, even if it has since been removed from the container runtime. */
  hasEnded?: (ephemeralContainer: string) => boolean;
  /** Whether a container's exit has triggered the restart of all of the pod's containers. */
  restartAllContainers?: boolean;
  /** Returns the actual CPU and memory of a running container, if known. */
  actuated?: (container: RuntimeContainer) => GivenResources | undefined;
};

/** Fields of a plan that are parameters of steps. All others are steps or lists of steps. */
type StepParameter = 'sandboxId' | 'attempt';

/** Describes each type of step for logs, in execution order. */
const DESCRIPTIONS: { [step in Exclude<keyof PodActions, StepParameter>]: (plan: PodActions) => string[] } = {
  killPod: ({ killPod }) => (killPod ? ['kill the pod'] : []),
  containersToKill: (plan) => plan.containersToKill.map(({ name, reason }) => `kill ${name} (${reason})`),
  containersToReset: (plan) =>
    plan.containersToReset.map(({ name, kill }) => `${kill ? 'kill and ' : ''}remove ${name}`),
  createSandbox: ({ createSandbox, attempt }) => (createSandbox ? [`create sandbox attempt ${attempt}`] : []),
  ephemeralContainersToStart: (plan) =>
    plan.ephemeralContainersToStart.map((name) => `start ephemeral container ${name}`),
  initContainersToStart: (plan) => plan.initContainersToStart.map((name) => `start init container ${name}`),
  containersToUpdate: (plan) =>
    plan.containersToUpdate.map(
      ({ name, resources }) =>
        `resize ${name} (${resources.map(({ resource, change }) => `${change} ${resource}`).join(', ') || 'its pod'})`,
    ),
  containersToStart: (plan) => plan.containersToStart.map((name) => `start container ${name}`),
};

/** Returns a plan without steps. */
export function emptyPlan(): PodActions {
  return {
    ...{ killPod: false, createSandbox: false, sandboxId: undefined, attempt: 0 },
    ...{ containersToKill: [], containersToReset: [], ephemeralContainersToStart: [] },
    ...{ initContainersToStart: [], containersToUpdate: [], containersToStart: [] },
  };
}

/** Formats a pod's plan as one line, for logs. */
export function describePodActions(plan: PodActions): string {
  const steps = Object.values(DESCRIPTIONS).flatMap((describe) => describe(plan));
  return steps.length === 0 ? 'nothing to do' : steps.join(', ');
}

/** Returns true if the plan has no steps. */
export function isEmptyPlan({ sandboxId: _sandbox, attempt: _attempt, ...steps }: PodActions): boolean {
  return Object.values(steps).every((step) => step === false || (Array.isArray(step) && step.length === 0));
}
