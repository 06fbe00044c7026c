/** Sees to it that the images of containers are there, by their pull policies. */
import { Backoff, errorMessage, isNotFound, type Logger } from '@podwright/base';
import type { CriClient, Image, PodSandboxConfig } from '@podwright/cri';
import { formatDuration } from '../api/time.ts';
import type { Container, Pod, PullPolicy } from '../api/types.ts';
import type { ObjectLookup } from '../config/local-objects.ts';
import { type EventRecorder, eventSubject } from '../events/event-recorder.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import { MAX_PULL_ERROR_LENGTH } from '../limits.ts';
import { type ImageReference, parseImageReference, withDefaultTag } from './image-reference.ts';
import { credentialsFor, type RegistryCredential, readNodeKeyring } from './keyring.ts';
import { PullQueue, type PullQueueOptions } from './pull-queue.ts';
import { pullSecretEntries } from './pull-secrets.ts';

export type ImageManagerOptions = {
  cri: CriClient;
  events: EventRecorder;
  objects: ObjectLookup;
  logger: Logger;
  queue: PullQueueOptions;
  backoff: { initialMs: number; maxMs: number };
  /** Docker configuration files of the node. */
  dockerConfigPaths: string[];
};

/** An image of a container or, without a name, of a volume of the pod. */
export type ImageRequest = {
  pod: Pod;
  container: Pick<Container, 'image' | 'imagePullPolicy'> & { name?: string };
  runtimeHandler: string;
  sandboxConfig: PodSandboxConfig;
};

/** The image is there, or why the container must wait and until when (Unix milliseconds). */
export type ImageOutcome = { image: Image } | { waiting: WaitingReason; retryAtMs?: number };

type PullDecision = 'use' | 'pull' | 'refuse';

/** Whether the image must be pulled, may be used as it is, or may not be had at all. */
export function decidePull(policy: PullPolicy, present: boolean): PullDecision {
  if (policy === 'Never') return present ? 'use' : 'refuse';
  return policy === 'Always' || !present ? 'pull' : 'use';
}

export class ImageManager {
  readonly #options: ImageManagerOptions;
  readonly #queue: PullQueue;
  readonly #backoff: Backoff;
  readonly #lastErrors = new Map<string, string>();

  constructor(options: ImageManagerOptions) {
    this.#options = options;
    this.#queue = new PullQueue(options.queue);
    this.#backoff = new Backoff(options.backoff);
  }

  /** Rejects only when aborted; whatever else goes wrong is why the container waits. */
  async ensureImage(request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const { container } = request;
    const reference = parseImageReference(container.image);
    if (reference === undefined) {
      const message = `Failed to apply default image tag "${container.image}": couldn't parse image name "${container.image}": invalid reference format`;
      this.#warn(request, 'InspectFailed', message);
      return { waiting: { reason: 'InvalidImageName', message } };
    }
    const name = withDefaultTag(container.image, reference);
    let present: Image | undefined;
    try {
      present = await this.#find(name, request.runtimeHandler, signal);
    } catch (error) {
      signal.throwIfAborted();
      const message = `Failed to inspect image "${name}": ${errorMessage(error)}`;
      this.#warn(request, 'InspectFailed', message);
      return { waiting: { reason: 'ImageInspectError', message } };
    }
    const decision = decidePull(container.imagePullPolicy ?? 'IfNotPresent', present !== undefined);
    if (decision === 'pull') return this.#pull(request, { name, reference }, signal);
    if (present === undefined) return this.#refuse(request);
    this.#record(request, 'Pulled', `Container image "${container.image}" already present on machine`);
    return { image: present };
  }

  /** Drops the delays of pods that are gone. */
  forgetPod(podUid: string): void {
    for (const key of this.#lastErrors.keys()) {
      if (!key.startsWith(`${podUid}\0`)) continue;
      this.#lastErrors.delete(key);
      this.#backoff.forget(key);
    }
  }

  async #find(name: string, runtimeHandler: string, signal: AbortSignal): Promise<Image | undefined> {
    try {
      const { image } = await this.#options.cri.image.imageStatus(
        { image: { image: name, runtimeHandler } },
        { signal },
      );
      return image;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #refuse(request: ImageRequest): ImageOutcome {
    const message = `Container image "${request.container.image}" is not present with pull policy of Never`;
    this.#warn(request, 'ErrImageNeverPull', message);
    return { waiting: { reason: 'ErrImageNeverPull', message } };
  }

  async #pull(
    request: ImageRequest,
    what: { name: string; reference: ImageReference },
    signal: AbortSignal,
  ): Promise<ImageOutcome> {
    const image = request.container.image;
    const key = `${request.pod.metadata.uid}\0${image}`;
    const remainingMs = this.#backoff.remainingMs(key);
    if (remainingMs > 0) {
      const message = `Back-off pulling image "${image}"`;
      this.#record(request, 'BackOff', message);
      const detail = `${message}: ErrImagePull: ${this.#lastErrors.get(key) ?? ''}`;
      return { waiting: { reason: 'ImagePullBackOff', message: detail }, retryAtMs: Date.now() + remainingMs };
    }
    const askedAtMs = performance.now();
    this.#record(request, 'Pulling', `Pulling image "${image}"`);
    try {
      const pulled = await this.#queue.run(() => this.#pullNow(request, what, signal), signal);
      const now = performance.now();
      const durations = `in ${formatDuration(now - pulled.startedAtMs)} (${formatDuration(now - askedAtMs)} including waiting)`;
      const size = `Image size: ${pulled.image.size} bytes.`;
      this.#record(request, 'Pulled', `Successfully pulled image "${image}" ${durations}. ${size}`);
      this.#backoff.forget(key);
      return { image: pulled.image };
    } catch (error) {
      signal.throwIfAborted();
      return this.#pullFailed(request, key, errorMessage(error).slice(0, MAX_PULL_ERROR_LENGTH));
    }
  }

  #pullFailed(request: ImageRequest, key: string, why: string): ImageOutcome {
    this.#warn(request, 'Failed', `Failed to pull image "${request.container.image}": ${why}`);
    this.#warn(request, 'Failed', 'Error: ErrImagePull');
    this.#lastErrors.set(key, why);
    const delayMs = this.#backoff.next(key);
    return { waiting: { reason: 'ErrImagePull', message: why }, retryAtMs: Date.now() + delayMs };
  }

  /** Tries each credential that holds for the image; without any, pulls anonymously. */
  async #pullNow(
    { pod, runtimeHandler, sandboxConfig }: ImageRequest,
    { name, reference }: { name: string; reference: ImageReference },
    signal: AbortSignal,
  ): Promise<{ image: Image; startedAtMs: number }> {
    const startedAtMs = performance.now();
    const credentials = await this.#credentials(pod, reference);
    const image = { image: name, runtimeHandler };
    let failure: unknown;
    for (const auth of credentials.length === 0 ? [undefined] : credentials) {
      try {
        const { imageRef } = await this.#options.cri.image.pullImage({ image, auth, sandboxConfig }, { signal });
        const found = await this.#find(imageRef, runtimeHandler, signal);
        if (found !== undefined) return { image: found, startedAtMs };
        failure = new Error(`the image "${name}" was pulled as ${imageRef} but is not there`);
      } catch (error) {
        signal.throwIfAborted();
        failure = error;
      }
    }
    throw failure;
  }

  async #credentials(pod: Pod, reference: ImageReference): Promise<RegistryCredential[]> {
    const { objects, logger, dockerConfigPaths, events } = this.#options;
    const secrets = pullSecretEntries(pod, objects);
    for (const problem of secrets.problems) {
      const message = `Unable to use some image pull secrets; attempting to pull the image may not succeed: ${problem}`;
      events.event(eventSubject(pod), 'Warning', 'FailedToRetrieveImagePullSecret', message);
    }
    const node = await readNodeKeyring(dockerConfigPaths, (path, error) => {
      logger.warn({ path, error: errorMessage(error) }, 'the docker configuration could not be read');
    });
    return [...credentialsFor(reference, secrets.entries), ...credentialsFor(reference, node)];
  }

  #record({ pod, container }: ImageRequest, reason: string, message: string): void {
    this.#options.events.event(eventSubject(pod, container.name), 'Normal', reason, message);
  }

  #warn({ pod, container }: ImageRequest, reason: string, message: string): void {
    this.#options.events.event(eventSubject(pod, container.name), 'Warning', reason, message);
  }
}
