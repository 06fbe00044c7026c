/**
 * Executes the plan from `compute-pod-actions` in upstream's order: stops the pod if its sandbox has changed; stops and removes containers
 * that should not run; resizes running containers; creates the sandbox and reports its addresses; starts ephemeral, then init, then
 * ordinary containers. Images are pulled while the sandbox is being created.
 */
import { ignoreFailure, repeatedError, shownError } from '@podwright/base';
import { asRpcError, withRpcErrors } from '@podwright/grpc';
import { type Container, eventSubject, everyContainer, isSidecar, type Pod } from '@podwright/kube-api';
import type { ImageOutcome } from '../images/image-manager.ts';
import { describePod } from '../kubecontainer/pod-identity.ts';
import { podAddresses, type RuntimePodStatus, runningContainers } from '../kubecontainer/runtime-pod.ts';
import { failedSteps, type StepResult, type SyncAction } from '../kubecontainer/sync-result.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';
import { fetchVolumeImages, type VolumeImages } from './image-volumes.ts';
import { killContainer } from './kill-container.ts';
import { type KillPodDependencies, killPod } from './kill-pod.ts';
import type { PodActions } from './pod-actions.ts';
import { createSandbox, makeSandboxConfig, runtimeHandler, type SandboxDependencies } from './pod-sandbox.ts';
import { type PruneDependencies, pruneInitContainers, resetContainers } from './prune-containers.ts';
import { type ResizeDependencies, resizePod } from './resize-pod.ts';
import {
  type SandboxInUse,
  type StartContainerDependencies,
  type StartRequest,
  startContainer,
} from './start-container.ts';

/** If a pod waits at least this long for its turn to create a sandbox, its trace records the wait. */
export const MIN_TRACED_TURN_MS = 5;

/** Dependencies for a pod sync. */
export type SyncPodDependencies = KillPodDependencies &
  SandboxDependencies &
  PruneDependencies &
  ResizeDependencies &
  StartContainerDependencies &
  Pick<KuberuntimeDependencies, 'crashBackoff' | 'images' | 'networks' | 'sandboxes'>;

export type SyncPodRequest = {
  pod: Pod;
  status: RuntimePodStatus;
  plan: PodActions;
  /** Called with the pod's addresses when its new sandbox is ready, before any containers are created. */
  onSandboxReady?: (podIps: string[]) => void;
};

/** The context passed to the steps of a pod sync. */
type Sync = SyncPodRequest & { deps: SyncPodDependencies; signal: AbortSignal };

/**
 * Executes a pod sync and returns the results of its steps, in order. Rejects only if aborted; failed steps are retried by the next sync.
 */
export async function syncPod(
  deps: SyncPodDependencies,
  request: SyncPodRequest,
  signal: AbortSignal,
): Promise<StepResult[]> {
  const { plan, pod } = request;
  const sync: Sync = { ...request, deps, signal };
  const stopped = await (plan.killPod ? stopPod(sync) : stopContainers(sync));
  if (failedSteps(stopped).length > 0 || (plan.killPod && !plan.createSandbox)) return stopped;
  if (plan.containersToReset.length > 0) return [...stopped, ...(await resetContainers(deps, sync, signal))];
  await pruneInitContainers(deps, sync);
  const resized = await resizePod(deps, sync, signal);
  const { due, delayed } = dueContainers(sync);
  if (due.length === 0 && !plan.createSandbox) return [...stopped, ...resized, ...delayed];
  const config = await sandboxConfig(sync);
  if ('action' in config) return [...stopped, ...resized, ...delayed, config];
  const atEachStart = due.filter(({ imagePullPolicy }) => imagePullPolicy === 'Always');
  const early = fetchImages(
    sync,
    config,
    due.filter((container) => !atEachStart.includes(container)),
  );
  const volumeImages = fetchVolumeImages(
    deps,
    { pod, containers: due, runtimeHandler: handlerOrDefault(sync), sandboxConfig: config },
    signal,
  );
  const { sandbox, steps } = await useSandbox(sync, config);
  const images = new Map([...early, ...(sandbox === undefined ? [] : fetchImages(sync, config, atEachStart))]);
  const started =
    sandbox === undefined ? [] : await startContainers(sync, { sandbox, images, volumeImages, containers: due });
  await Promise.allSettled([...images.values(), ...[...volumeImages.values()].map(({ outcome }) => outcome)]);
  signal.throwIfAborted();
  return [...stopped, ...resized, ...delayed, ...steps, ...started];
}

/** Stops the pod. A no-op if the pod has already stopped and needs no new sandbox. */
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
      const spec = everyContainer(pod.spec).find((container) => container.name === name);
      const step: StepResult = { action: 'KillContainer', target: name };
      try {
        await killContainer(deps, { pod, spec, id, name, reason, message, podIps: addresses }, signal);
        return step;
      } catch (error) {
        signal.throwIfAborted();
        return { ...step, error: { reason: 'KillContainerError', message: shownError(asRpcError(error)) } };
      }
    }),
  );
}

/** Returns the planned containers that may start now, and a step result with the back-off for each of the others. */
function dueContainers(sync: Sync): { due: Container[]; delayed: StepResult[] } {
  const { deps, pod, plan, status } = sync;
  const { ephemeralContainersToStart, initContainersToStart, containersToStart } = plan;
  const names = new Set([...ephemeralContainersToStart, ...initContainersToStart, ...containersToStart]);
  const delayed: StepResult[] = [];
  const planned = startOrder(pod).filter(({ name }) => names.has(name));
  const due = planned.filter((container) => {
    // a restart requested by a client is not delayed and does not count as a crash
    if (isRequested(plan, container)) deps.crashBackoff.forget(pod, container);
    if (isRequested(plan, container)) return true;
    const delay = deps.crashBackoff.delay({ pod, container, status });
    if (delay === undefined) return true;
    const message = `Back-off restarting failed container ${container.name} in pod ${describePod(pod)}`;
    deps.events.event(eventSubject(pod, container.name), 'Warning', 'BackOff', message);
    const action = actionOf(sync, container);
    delayed.push({ action, target: container.name, error: delay.waiting, retryAtMs: delay.retryAtMs, held: true });
    return false;
  });
  return { due, delayed };
}

function isRequested(plan: PodActions, container: Container): boolean {
  return plan.containersToKill.some(({ name, reason }) => name === container.name && reason === 'restartRequested');
}

/**
 * Returns the pod's containers in start order. Ephemeral containers come first, because they must start even if an init container fails.
 */
function startOrder({ spec }: Pod): Container[] {
  return [...(spec.ephemeralContainers ?? []), ...(spec.initContainers ?? []), ...spec.containers];
}

function actionOf({ pod }: Sync, container: Container): SyncAction {
  if (pod.spec.containers.includes(container)) return 'StartContainer';
  return pod.spec.initContainers?.includes(container) ? 'StartInitContainer' : 'StartEphemeralContainer';
}

type Images = Map<string, Promise<ImageOutcome>>;

/**
 * Starts pulling the images. Failed pulls are reported by the step that starts the container. Images with pull policy Always are not pulled
 * until the sandbox exists, so that repeated attempts to create a sandbox do not send requests to registries.
 */
function fetchImages(sync: Sync, sandboxConfig: SandboxInUse['config'], containers: Container[]): Images {
  const { deps, pod, signal } = sync;
  const handler = handlerOrDefault(sync);
  const images: Images = new Map();
  for (const container of containers) {
    const request = { pod, container, runtimeHandler: handler, sandboxConfig };
    const fetching = deps.tracer.span(pod.metadata.uid, `image ${container.name}`, () =>
      deps.images.ensureImage(request, signal),
    );
    ignoreFailure(fetching, 'the start of the container awaits it');
    images.set(container.name, fetching);
  }
  return images;
}

/**
 * Returns the pod's runtime handler, or the default one if its RuntimeClass is missing; the step that creates the sandbox reports the
 * missing RuntimeClass.
 */
function handlerOrDefault({ deps, pod }: Sync): string {
  try {
    return runtimeHandler(deps, pod);
  } catch {
    return '';
  }
}

/** Returns the sandbox configuration or, if it cannot be built, the failed step. */
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

/** Returns the existing or newly created sandbox for the containers; absent if it could not be created. */
async function useSandbox(
  sync: Sync,
  config: SandboxInUse['config'],
): Promise<{ sandbox?: SandboxInUse; steps: StepResult[] }> {
  const { deps, pod, plan, status, signal, onSandboxReady } = sync;
  if (!plan.createSandbox) {
    return { sandbox: { id: plan.sandboxId!, config, podIps: podAddresses(deps, pod, status) }, steps: [] };
  }
  const action = 'CreatePodSandbox';
  const warn = (reason: string, message: string) => deps.events.event(eventSubject(pod), 'Warning', reason, message);
  let id = '';
  try {
    id = await createInTurn(sync, config);
    const podIps = pod.spec.hostNetwork
      ? deps.hostIps()
      : ((await withRpcErrors(deps.networks.of(id, signal)))?.ips ?? []);
    onSandboxReady?.(podIps);
    return { sandbox: { id, config, podIps }, steps: [{ action, target: id }] };
  } catch (error) {
    signal.throwIfAborted();
    const message = repeatedError(error);
    if (id === '') warn('FailedCreatePodSandBox', `Failed to create pod sandbox: ${message}`);
    else warn('FailedStatusPodSandBox', `Unable to get pod sandbox status: ${message}`);
    return { steps: [{ action, target: id, error: { reason: 'CreatePodSandboxError', message } }] };
  }
}

function createInTurn({ deps, pod, signal }: Sync, config: SandboxInUse['config']): Promise<string> {
  const { sandboxes, tracer } = deps;
  const { uid } = pod.metadata;
  const sinceMs = performance.now();
  const create = () => {
    const waitedMs = Math.round(performance.now() - sinceMs);
    if (waitedMs >= MIN_TRACED_TURN_MS) tracer.mark(uid, 'turn to run sandbox', `after ${waitedMs} ms`);
    return tracer.span(uid, 'run sandbox', () => createSandbox(deps, { pod, config }, signal));
  };
  return sandboxes.run(pod, create, signal);
}

type Starts = { sandbox: SandboxInUse; images: Images; volumeImages: VolumeImages; containers: Container[] };

/**
 * Starts containers one at a time, in spec order. If an init container cannot be started, neither are the containers after it. Creations
 * never overlap, because containerd 1.6 might then lose the sandbox's process.
 */
async function startContainers(
  sync: Sync,
  { sandbox, images, volumeImages, containers }: Starts,
): Promise<StepResult[]> {
  const { deps, pod, plan, status, signal } = sync;
  const steps: StepResult[] = [];
  for (const container of containers) {
    const action = actionOf(sync, container);
    const image = images.get(container.name)!;
    const requested = isRequested(plan, container);
    const takesTurn = !requested && deps.crashBackoff.takesTurn(pod, container);
    const onCreate = () => {
      if (!requested) deps.crashBackoff.count({ pod, container, status });
    };
    const request: StartRequest = { pod, container, status, sandbox, image, volumeImages, action, takesTurn, onCreate };
    const step = await startContainer(deps, request, signal);
    steps.push(step);
    if (step.error !== undefined && action === 'StartInitContainer' && !isSidecar(container)) break;
  }
  return steps;
}
