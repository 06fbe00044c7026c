/**
 * Brings a pod to what its plan says, in the kubelet's seven steps: (1) the plan, which is made by `compute-pod-actions`;
 * (2) stop the pod if its sandbox changed; (3) stop containers that should not run; (4) create the sandbox; (5) ephemeral
 * containers, which a lone node does not have; (6) init containers; (7) ordinary containers.
 * Images are fetched while the sandbox is made, and a container starts while the next one is created.
 */
import { shownError } from '@podwright/base';
import { allContainers, type Container, isSidecar, type Pod } from '../api/types.ts';
import { eventSubject } from '../events/event-recorder.ts';
import type { ImageOutcome } from '../images/image-manager.ts';
import { describePod } from '../kubecontainer/pod-identity.ts';
import {
  latestContainer,
  podAddresses,
  type RuntimePodStatus,
  runningContainers,
} from '../kubecontainer/runtime-pod.ts';
import { failedSteps, type StepResult, type SyncAction } from '../kubecontainer/sync-result.ts';
import { crashKey, delayRestart } from './crash-backoff.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';
import { fetchVolumeImages, type VolumeImages } from './image-volumes.ts';
import { killContainer } from './kill-container.ts';
import { type KillPodDependencies, killPod } from './kill-pod.ts';
import type { PodActions } from './pod-actions.ts';
import { createSandbox, makeSandboxConfig, runtimeHandler, type SandboxDependencies } from './pod-sandbox.ts';
import {
  beginContainer,
  type SandboxInUse,
  type StartContainerDependencies,
  type StartRequest,
} from './start-container.ts';

/** What a sync takes. */
export type SyncPodDependencies = KillPodDependencies &
  SandboxDependencies &
  StartContainerDependencies &
  Pick<KuberuntimeDependencies, 'crashBackoff' | 'images' | 'networks'>;

export type SyncPodRequest = {
  pod: Pod;
  status: RuntimePodStatus;
  plan: PodActions;
};

/** What a sync carries through its steps. */
type Sync = SyncPodRequest & { deps: SyncPodDependencies; signal: AbortSignal };

/** Returns how each step ended, in order. Rejects only when aborted: the next sync goes on from what failed. */
export async function syncPod(
  deps: SyncPodDependencies,
  request: SyncPodRequest,
  signal: AbortSignal,
): Promise<StepResult[]> {
  const { plan, pod } = request;
  const sync: Sync = { ...request, deps, signal };
  const stopped = await (plan.killPod ? stopPod(sync) : stopContainers(sync));
  if (failedSteps(stopped).length > 0 || (plan.killPod && !plan.createSandbox)) return stopped;
  const { due, delayed } = dueContainers(sync);
  if (due.length === 0 && !plan.createSandbox) return [...stopped, ...delayed];
  const config = await sandboxConfig(sync);
  if ('action' in config) return [...stopped, ...delayed, config];
  const images = fetchImages(sync, config, due);
  const volumeImages = fetchVolumeImages(
    deps,
    { pod, containers: due, runtimeHandler: handlerOrDefault(sync), sandboxConfig: config },
    signal,
  );
  const { sandbox, steps } = await useSandbox(sync, config);
  const started =
    sandbox === undefined ? [] : await startContainers(sync, { sandbox, images, volumeImages, containers: due });
  await Promise.allSettled([...images.values(), ...[...volumeImages.values()].map(({ outcome }) => outcome)]);
  signal.throwIfAborted();
  return [...stopped, ...delayed, ...steps, ...started];
}

/** Nothing is done for a pod that has stopped long ago and stays so. */
async function stopPod({ deps, pod, status, plan, signal }: Sync): Promise<StepResult[]> {
  const alive = runningContainers(status).length > 0 || status.sandboxes.some(({ ready }) => ready);
  if (status.sandboxes.length === 0 || (!alive && !plan.createSandbox)) return [];
  if (plan.createSandbox) {
    deps.events.event(
      eventSubject(pod),
      'Normal',
      'SandboxChanged',
      'Pod sandbox changed, it will be killed and re-created.',
    );
  }
  return killPod(deps, { pod, status }, signal);
}

async function stopContainers({ deps, pod, status, plan, signal }: Sync): Promise<StepResult[]> {
  const addresses = podAddresses(deps, pod, status);
  return Promise.all(
    plan.containersToKill.map(async ({ id, name, reason, message }): Promise<StepResult> => {
      const spec = allContainers(pod.spec).find((container) => container.name === name);
      const step: StepResult = { action: 'KillContainer', target: name };
      try {
        await killContainer(deps, { pod, spec, id, name, reason, message, podIps: addresses }, signal);
        return step;
      } catch (error) {
        signal.throwIfAborted();
        return { ...step, error: { reason: 'KillContainerError', message: shownError(error) } };
      }
    }),
  );
}

/** The planned containers that need not wait out a restart delay, and a step with its delay for each of the others. */
function dueContainers(sync: Sync): { due: Container[]; delayed: StepResult[] } {
  const { deps, pod, status, plan } = sync;
  const names = new Set([...plan.initContainersToStart, ...plan.containersToStart]);
  const killed = new Set(plan.containersToKill.map(({ name }) => name));
  const asked = new Set(
    plan.containersToKill.filter(({ reason }) => reason === 'restartRequested').map(({ name }) => name),
  );
  const delayed: StepResult[] = [];
  const planned = allContainers(pod.spec).filter(({ name }) => names.has(name));
  const due = planned.filter((container) => {
    // what a person asked for comes at once, and counts as no crash
    if (asked.has(container.name)) deps.crashBackoff.forget(crashKey(pod, container));
    if (asked.has(container.name)) return true;
    const seen = latestContainer(status, container.name);
    // One that this sync has just stopped ended now.
    const latest =
      seen !== undefined && killed.has(container.name)
        ? { ...seen, state: 'exited' as const, finishedAtMs: Date.now() }
        : seen;
    const delay = delayRestart(deps.crashBackoff, { pod, container, latest });
    if (delay === undefined) return true;
    const message = `Back-off restarting failed container ${container.name} in pod ${describePod(pod)}`;
    deps.events.event(eventSubject(pod, container.name), 'Warning', 'BackOff', message);
    const action = actionOf(sync, container);
    delayed.push({ action, target: container.name, error: delay.waiting, retryAtMs: delay.retryAtMs, held: true });
    return false;
  });
  return { due, delayed };
}

function actionOf({ pod }: Sync, container: Container): SyncAction {
  return pod.spec.containers.includes(container) ? 'StartContainer' : 'StartInitContainer';
}

type Images = Map<string, Promise<ImageOutcome>>;

/** Begins to fetch the images; a failure is the container's to report. */
function fetchImages(sync: Sync, sandboxConfig: SandboxInUse['config'], containers: Container[]): Images {
  const { deps, pod, signal } = sync;
  const handler = handlerOrDefault(sync);
  const images: Images = new Map();
  for (const container of containers) {
    const request = { pod, container, runtimeHandler: handler, sandboxConfig };
    const fetching = deps.tracer.span(pod.metadata.uid, `image ${container.name}`, () =>
      deps.images.ensureImage(request, signal),
    );
    fetching.catch(() => undefined); // read again where the container is started
    images.set(container.name, fetching);
  }
  return images;
}

/** A missing RuntimeClass is reported by the step that makes the sandbox. */
function handlerOrDefault({ deps, pod }: Sync): string {
  try {
    return runtimeHandler(deps, pod);
  } catch {
    return '';
  }
}

/** The sandbox's configuration, or the step that failed for want of one. */
async function sandboxConfig({ deps, pod, plan, signal }: Sync): Promise<SandboxInUse['config'] | StepResult> {
  try {
    return await makeSandboxConfig(deps, { pod, attempt: plan.attempt }, signal);
  } catch (error) {
    signal.throwIfAborted();
    const why = shownError(error);
    if (plan.createSandbox) {
      deps.events.event(eventSubject(pod), 'Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${why}`);
    }
    const message = `Failed to generate sandbox config for pod "${describePod(pod)}": ${why}`;
    return { action: 'CreatePodSandbox', target: '', error: { reason: 'CreatePodSandboxError', message } };
  }
}

/** The sandbox to start containers in; none if it could not be made. */
async function useSandbox(
  { deps, pod, plan, status, signal }: Sync,
  config: SandboxInUse['config'],
): Promise<{ sandbox?: SandboxInUse; steps: StepResult[] }> {
  if (!plan.createSandbox) {
    return { sandbox: { id: plan.sandboxId!, config, podIps: podAddresses(deps, pod, status) }, steps: [] };
  }
  const action = 'CreatePodSandbox';
  let id = '';
  try {
    id = await deps.tracer.span(pod.metadata.uid, 'run sandbox', () => createSandbox(deps, { pod, config }, signal));
    const podIps = pod.spec.hostNetwork ? deps.hostIps() : ((await deps.networks.of(id, signal))?.ips ?? []);
    return { sandbox: { id, config, podIps }, steps: [{ action, target: id }] };
  } catch (error) {
    signal.throwIfAborted();
    const message = shownError(error);
    const text = `Failed to create pod sandbox: ${message}`;
    deps.events.event(eventSubject(pod), 'Warning', 'FailedCreatePodSandBox', text);
    return { steps: [{ action, target: id, error: { reason: 'CreatePodSandboxError', message } }] };
  }
}

type Starts = { sandbox: SandboxInUse; images: Images; volumeImages: VolumeImages; containers: Container[] };

/**
 * Creates and starts containers in the order of the specification. A hook after a start holds the next container back; an
 * init container that cannot be started holds all others back.
 */
async function startContainers(
  sync: Sync,
  { sandbox, images, volumeImages, containers }: Starts,
): Promise<StepResult[]> {
  const { deps, pod, status, signal } = sync;
  const ended: StepResult[] = [];
  const starting: Promise<StepResult>[] = [];
  for (const container of containers) {
    const action = actionOf(sync, container);
    const image = images.get(container.name)!;
    const request: StartRequest = { pod, container, status, sandbox, image, volumeImages, action };
    const begun = await beginContainer(deps, request, signal);
    if (!begun.created) {
      ended.push({ ...begun.result, held: true });
      if (action === 'StartInitContainer' && !isSidecar(container)) break;
      continue;
    }
    if (action === 'StartInitContainer' || container.lifecycle?.postStart !== undefined) {
      const step = await begun.result;
      ended.push(step);
      if (step.error !== undefined && action === 'StartInitContainer' && !isSidecar(container)) break;
    } else starting.push(begun.result);
  }
  return [...ended, ...(await Promise.all(starting))];
}
