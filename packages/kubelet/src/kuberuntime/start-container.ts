import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LOG_DIRECTORY, repeatedError, shownError } from '@podwright/base';
import type { Image, PodSandboxConfig } from '@podwright/cri';
import { type Container, type EphemeralContainer, eventSubject, type Pod } from '@podwright/kube-api';
import { needsRecursiveReadOnly } from '../container/container-mounts.ts';
import type { PreparedContainer, PrepareRequest } from '../container/prepared-container.ts';
import type { ImageOutcome } from '../images/image-manager.ts';
import { describePod } from '../kubecontainer/pod-identity.ts';
import { latestContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { StepResult, SyncAction, WaitingReason } from '../kubecontainer/sync-result.ts';
import { containerConfig, imageUser } from './container-config.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';
import { mountedImages, type VolumeImages } from './image-volumes.ts';
import { type KillContainerDependencies, killContainer } from './kill-container.ts';
import { runtimeHandler } from './pod-sandbox.ts';
import { nextRestartCount } from './restart-count.ts';
import { nonRootViolation } from './security-context.ts';

/** Dependencies for creating and starting a container. */
export type StartContainerDependencies = KillContainerDependencies &
  Pick<
    KuberuntimeDependencies,
    | 'features'
    | 'kubeletId'
    | 'logger'
    | 'netRawDefault'
    | 'node'
    | 'objects'
    | 'prepare'
    | 'restarts'
    | 'seccompDefault'
    | 'seccompRoot'
  >;

/** The sandbox in which containers are started. */
export type SandboxInUse = { id: string; config: PodSandboxConfig; podIps: string[] };

export type StartRequest = {
  pod: Pod;
  container: Container;
  status: RuntimePodStatus;
  sandbox: SandboxInUse;
  image: Promise<ImageOutcome>;
  volumeImages: VolumeImages;
  action: SyncAction;
  /** Whether the restart of a crashed container must queue with those of other crashed containers. */
  takesTurn: boolean;
  /**
   * Called right before the container is created, once its images are present. From then on, the restart counts towards the crash back-off.
   */
  onCreate: () => void;
};

/** Creates and starts a container and runs its postStart hook. Rejects only if aborted. */
export async function startContainer(
  deps: StartContainerDependencies,
  request: StartRequest,
  signal: AbortSignal,
): Promise<StepResult> {
  const { action, container, pod } = request;
  const step = { action, target: container.name };
  const held = (error: WaitingReason, retryAtMs?: number): StepResult => ({ ...step, error, retryAtMs, held: true });
  const image = await request.image;
  if ('waiting' in image) return held(image.waiting, image.retryAtMs);
  const target = targetOf(request);
  if ('reason' in target) {
    warn(deps, request, `Error: ${target.message}`);
    return held(target);
  }
  const mounted = await mountedImages(container, request.volumeImages);
  if ('waiting' in mounted) {
    warn(deps, request, `Error: ${mounted.waiting.reason}`);
    return held(mounted.waiting, mounted.retryAtMs);
  }
  const begin = async () => {
    const configured = await configure(deps, { ...request, images: mounted.images }, signal);
    if ('reason' in configured) return configured;
    const violation = nonRootViolation(pod, container, imageUser(image.image));
    if (violation === undefined)
      return createAndStart(
        deps,
        { ...request, targetId: target.id, prepared: configured, image: image.image },
        signal,
      );
    warn(deps, request, `Error: ${violation.message}`);
    return violation;
  };
  const begun = await (request.takesTurn && hasEnded(request) ? deps.restarts.run(begin, signal) : begin());
  if (!('id' in begun)) return held(begun);
  return { ...step, error: begun.error ?? (await runPostStart(deps, { ...request, id: begun.id }, signal)) };
}

/**
 * Whether the container had exited in this sandbox before this sync. The restart of a container that the sync itself stopped does not have
 * to queue.
 */
function hasEnded({ status, container, sandbox }: StartRequest): boolean {
  const latest = latestContainer(status, container.name);
  return latest?.state === 'exited' && latest.sandboxId === sandbox.id;
}

/** Creates and starts the container. Returns its ID once created, with `error` if the start failed. */
async function createAndStart(
  deps: StartContainerDependencies,
  request: CreateRequest,
  signal: AbortSignal,
): Promise<{ id: string; error?: WaitingReason } | WaitingReason> {
  const { pod, container } = request;
  request.onCreate();
  const created = await createContainer(deps, request, signal);
  if ('reason' in created) return created;
  const { id } = created;
  try {
    await deps.tracer.span(pod.metadata.uid, `start ${container.name}`, () =>
      deps.cri.runtime.startContainer({ containerId: id }, { signal }),
    );
  } catch (error) {
    return { id, error: fail(deps, request, { reason: 'RunContainerError', error, signal }) };
  }
  deps.events.event(eventSubject(pod, container.name), 'Normal', 'Started', 'Container started');
  return { id };
}

/**
 * Returns the ID of the container whose PID namespace an ephemeral container joins (`undefined` for other containers), or a waiting reason
 * if that container does not exist.
 */
function targetOf({ container, status }: StartRequest): { id: string | undefined } | WaitingReason {
  const { targetContainerName: name }: EphemeralContainer = container;
  if (!name) return { id: undefined };
  const target = latestContainer(status, name);
  if (target !== undefined) return { id: target.id };
  return { reason: 'CreateContainerConfigError', message: `unable to find target container ${name}` };
}

async function configure(
  deps: StartContainerDependencies,
  request: StartRequest & { images: PrepareRequest['volumeImages'] },
  signal: AbortSignal,
): Promise<PreparedContainer | WaitingReason> {
  const { pod, container, sandbox, images } = request;
  try {
    const recursiveReadOnly = needsRecursiveReadOnly(container) && (await supportsRecursiveReadOnly(deps, pod, signal));
    const prepareRequest = { pod, container, podIps: sandbox.podIps, volumeImages: images, recursiveReadOnly };
    return await deps.prepare(prepareRequest, signal);
  } catch (error) {
    return fail(deps, request, { reason: 'CreateContainerConfigError', error, signal });
  }
}

async function supportsRecursiveReadOnly(
  deps: StartContainerDependencies,
  pod: Pod,
  signal: AbortSignal,
): Promise<boolean> {
  const features = await deps.features.ofHandler(runtimeHandler(deps, pod), signal);
  return typeof features === 'object' && features.recursiveReadOnlyMounts;
}

type CreateRequest = Omit<StartRequest, 'image'> & {
  targetId: string | undefined;
  prepared: PreparedContainer;
  image: Image;
};

async function createContainer(
  deps: StartContainerDependencies,
  request: CreateRequest,
  signal: AbortSignal,
): Promise<{ id: string } | WaitingReason> {
  const { pod, container, status, sandbox } = request;
  const logDirectory = sandbox.config.logDirectory;
  try {
    const restartCount = await nextRestartCount(status, container.name, logDirectory);
    await mkdir(join(logDirectory, container.name), { recursive: true, mode: LOG_DIRECTORY });
    const namespaces = sandbox.config.linux!.securityContext!.namespaceOptions!;
    const config = containerConfig({ ...deps, ...request, restartCount, namespaces });
    const { containerId } = await deps.tracer.span(pod.metadata.uid, `create ${container.name}`, () =>
      deps.cri.runtime.createContainer({ podSandboxId: sandbox.id, config, sandboxConfig: sandbox.config }, { signal }),
    );
    deps.events.event(eventSubject(pod, container.name), 'Normal', 'Created', 'Container created');
    return { id: containerId };
  } catch (error) {
    return fail(deps, request, { reason: 'CreateContainerError', error, signal });
  }
}

/** Runs the postStart hook. If it fails, kills the container. */
async function runPostStart(
  deps: StartContainerDependencies,
  { pod, container, id, sandbox }: StartRequest & { id: string },
  signal: AbortSignal,
): Promise<WaitingReason | undefined> {
  const handler = container.lifecycle?.postStart;
  if (handler === undefined) return undefined;
  try {
    await deps.tracer.span(pod.metadata.uid, `postStart ${container.name}`, () =>
      deps.hooks.run({ pod, container, containerId: id, podIps: sandbox.podIps, handler }, signal),
    );
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    const why = shownError(error);
    deps.logger.warn({ pod: describePod(pod), container: container.name, error: why }, 'a postStart hook failed');
    // omit the hook's output from the event, because it may contain secrets
    deps.events.event(eventSubject(pod, container.name), 'Warning', 'FailedPostStartHook', 'PostStartHook failed');
    const message = 'FailedPostStartHook';
    await killContainer(
      deps,
      { pod, spec: container, id, name: container.name, message, podIps: sandbox.podIps },
      signal,
    );
    return { reason: 'PostStartHookError', message: why };
  }
}

type Failure = { reason: string; error: unknown; signal: AbortSignal };

function fail(
  deps: Pick<StartContainerDependencies, 'events' | 'logger'>,
  request: Pick<StartRequest, 'pod' | 'container'>,
  { reason, error, signal }: Failure,
): WaitingReason {
  signal.throwIfAborted();
  const message = repeatedError(error);
  warn(deps, request, `Error: ${message}`);
  deps.logger.info({ pod: describePod(request.pod), container: request.container.name, error: message }, reason);
  return { reason, message };
}

function warn(
  deps: Pick<StartContainerDependencies, 'events'>,
  { pod, container }: Pick<StartRequest, 'pod' | 'container'>,
  text: string,
) {
  deps.events.event(eventSubject(pod, container.name), 'Warning', 'Failed', text);
}
