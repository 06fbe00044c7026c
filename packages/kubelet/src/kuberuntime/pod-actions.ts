import type { Pod } from '@podwright/kube-api';
import type { GivenResources, RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { ProbeResult } from '../prober/probe-results.ts';
import type { ContainerToUpdate } from './resize-actions.ts';

/** Why a container is killed; decides the grace period and the event. */
export type KillReason =
  | 'livenessProbe'
  | 'startupProbe'
  | 'definitionChanged'
  | 'resize'
  | 'restartRequested'
  | 'unknownState';

export type ContainerToKill = { id: string; name: string; reason: KillReason; message: string };

export type ContainerToReset = { id: string; name: string; kill: boolean };

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
  /** Every container of the pod, if it begins anew in its sandbox: stopped at once if it runs, and removed. */
  containersToReset: ContainerToReset[];
  /** Names of containers for debugging. */
  ephemeralContainersToStart: string[];
  /** Names, in the order of the specification. */
  initContainersToStart: string[];
  /** Running containers that get other CPU or memory. */
  containersToUpdate: ContainerToUpdate[];
  containersToStart: string[];
};

/** Results of the probes that can end a container, by container id; undefined when there is none. */
export type ProbeAnswers = {
  liveness(containerId: string): ProbeResult | undefined;
  startup(containerId: string): ProbeResult | undefined;
};

export type PodActionsInput = {
  pod: Pod;
  status: RuntimePodStatus;
  probes: ProbeAnswers;
  /** Whether somebody asked to restart a container, by its id. */
  restartRequested?: (containerId: string) => boolean;
  /** Whether an ephemeral container has ended, even if the runtime has no record of it any more. */
  hasEnded?: (ephemeralContainer: string) => boolean;
  /** A container ended in a way that begins the whole pod anew. */
  restartAllContainers?: boolean;
  /** What a running container was given of CPU and memory, if that is known. */
  actuated?: (container: RuntimeContainer) => GivenResources | undefined;
};

/** The fields that say how a step is done; every other one is a step, or a list of them. */
type StepParameter = 'sandboxId' | 'attempt';

/** A description of each step, in the order in which they are done. */
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

/** The plan in one line, for logs. */
export function describePodActions(plan: PodActions): string {
  const steps = Object.values(DESCRIPTIONS).flatMap((describe) => describe(plan));
  return steps.length === 0 ? 'nothing to do' : steps.join(', ');
}

/** True if the plan has no step at all, whatever the fields of a plan are. */
export function isEmptyPlan({ sandboxId: _sandbox, attempt: _attempt, ...steps }: PodActions): boolean {
  return Object.values(steps).every((step) => step === false || (Array.isArray(step) && step.length === 0));
}
