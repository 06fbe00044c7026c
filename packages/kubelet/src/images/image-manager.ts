/** Makes sure that container images are present, according to their pull policies. */
import { Backoff, errorMessage, isNotFound, type Logger, type Registry } from '@podwright/base';
import type { CriClient, Image, PodSandboxConfig } from '@podwright/cri';
import { rpcErrorText } from '@podwright/grpc';
import {
  type Container,
  type EventRecorder,
  eventSubject,
  formatDuration,
  type ImageReference,
  nameProblem,
  type Pod,
  type PodObjects,
  type PullPolicy,
  parseImageReference,
  withDefaultTag,
} from '@podwright/kube-api';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import type { CredentialProviders } from './credential-providers.ts';
import type { ImageAccess } from './image-access.ts';
import { type ImageMetrics, imageMetrics } from './image-metrics.ts';
import { entriesFor, type KeyringEntry, readNodeKeyring } from './keyring.ts';
import { PULL_BACKOFF_SHOWN_AFTER_MS } from './limits.ts';
import { pullSecret } from './pull-credentials.ts';
import { pullFailure } from './pull-failure.ts';
import { PullQueue, type PullQueueOptions } from './pull-queue.ts';
import { pullSecretEntries } from './pull-secrets.ts';

export type ImageManagerOptions = {
  cri: CriClient;
  events: EventRecorder;
  objects: PodObjects;
  logger: Logger;
  queue: PullQueueOptions;
  backoff: { initialMs: number; maxMs: number };
  /** Paths of the node's Docker config files. */
  dockerConfigPaths: string[];
  /** Decides which images on the node a pod may use without pulling them. */
  access: ImageAccess;
  /** Credential provider plugins, if any are configured. */
  providers?: CredentialProviders;
  metrics?: Registry;
};

/** A request for a container's image or, if `container` has no name, for an image volume's image. */
export type ImageRequest = {
  pod: Pod;
  container: Pick<Container, 'image' | 'imagePullPolicy'> & { name?: string };
  runtimeHandler: string;
  sandboxConfig: PodSandboxConfig;
};

/** The outcome of an image request: the image, or why the container must wait and when to retry (Unix milliseconds). */
export type ImageOutcome = { image: Image } | { waiting: WaitingReason; retryAtMs?: number };

type Waiting = Extract<ImageOutcome, { waiting: unknown }>;

type PullDecision = 'use' | 'pull' | 'refuse';

/** Decides whether to pull the image, use the one on the node, or refuse. `usable`: the image is on the node, and the pod may use it. */
export function decidePull(policy: PullPolicy, usable: boolean): PullDecision {
  if (policy === 'Never') return usable ? 'use' : 'refuse';
  return policy === 'Always' || !usable ? 'pull' : 'use';
}

/** An image request with its image name parsed. */
type Wanted = {
  request: ImageRequest;
  name: string;
  reference: ImageReference;
  /** Returns the credentials that match the image. They are looked up at most once. */
  credentials: () => Promise<KeyringEntry[]>;
};

export class ImageManager {
  readonly #options: ImageManagerOptions;
  readonly #queue: PullQueue;
  readonly #backoff: Backoff;
  readonly #metrics: ImageMetrics | undefined;
  readonly #lastErrors = new Map<string, string>();

  constructor(options: ImageManagerOptions) {
    this.#options = options;
    this.#queue = new PullQueue(options.queue);
    this.#backoff = new Backoff(options.backoff);
    this.#metrics = options.metrics && imageMetrics(options.metrics);
  }

  /** Ensures that the image is present. Rejects only if aborted; other failures are returned as `waiting`. */
  async ensureImage(request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const outcome = await this.#ensure(request, signal);
    // not for an image volume: each container that mounts the volume emits this event itself
    if ('waiting' in outcome && request.container.name !== undefined)
      this.#warn(request, 'Failed', `Error: ${outcome.waiting.reason}`);
    return outcome;
  }

  async #ensure(request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const { image, imagePullPolicy: policy = 'IfNotPresent' } = request.container;
    const reference = parseImageReference(image);
    if (reference === undefined) {
      this.#metrics?.asked(policy, undefined, undefined);
      return this.#refuseName(request);
    }
    const credentials = once(() => this.#credentials(request.pod, reference));
    const wanted = { request, name: withDefaultTag(image, reference), reference, credentials };
    if (policy === 'Always') {
      this.#metrics?.asked(policy, undefined, true);
      return this.#pull(wanted, signal);
    }
    const present = await this.#inspect(wanted, signal);
    if (present !== undefined && 'waiting' in present) return present;
    const usable = present !== undefined && !(await this.#mustPull(wanted, present.id));
    const decision = decidePull(policy, usable);
    this.#metrics?.asked(policy, present !== undefined, decision === 'refuse' && !present ? undefined : !usable);
    if (decision === 'pull') return this.#pull(wanted, signal);
    if (decision === 'refuse') return this.#refuse(request);
    const text = `Container image "${image}" already present on machine and can be accessed by the pod`;
    this.#record(request, 'Pulled', text);
    return { image: present! };
  }

  /** Drops a deleted pod's back-offs. */
  forgetPod(podUid: string): void {
    for (const key of this.#lastErrors.keys()) {
      if (!key.startsWith(`${podUid}\0`)) continue;
      this.#lastErrors.delete(key);
      this.#backoff.forget(key);
    }
  }

  #refuseName(request: ImageRequest): Waiting {
    const { image } = request.container;
    const why = `couldn't parse image name "${image}": ${nameProblem(image)}`;
    const message = `Failed to apply default image tag "${image}": ${why}`;
    this.#warn(request, 'InspectFailed', message);
    return { waiting: { reason: 'InvalidImageName', message } };
  }

  async #inspect({ request, name }: Wanted, signal: AbortSignal): Promise<Image | Waiting | undefined> {
    try {
      return await this.#find(name, request.runtimeHandler, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#metrics?.asked(request.container.imagePullPolicy ?? 'IfNotPresent', undefined, undefined);
      const message = `Failed to inspect image "${name}": ${rpcErrorText(error)}`;
      this.#warn(request, 'InspectFailed', message);
      return { waiting: { reason: 'ImageInspectError', message } };
    }
  }

  #mustPull({ request, credentials }: Wanted, imageId: string): Promise<boolean> {
    const secrets = async () => (await credentials()).flatMap((entry) => pullSecret(entry) ?? []);
    return this.#options.access.mustPull(request.container.image, imageId, secrets);
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

  /**
   * Refuses the image because of pull policy Never. The message is the same whether the image is absent or merely inaccessible to the pod,
   * so that it does not reveal the image's presence.
   */
  #refuse(request: ImageRequest): Waiting {
    const message = `Container image "${request.container.image}" is not present with pull policy of Never`;
    this.#warn(request, 'ErrImageNeverPull', message);
    return { waiting: { reason: 'ErrImageNeverPull', message } };
  }

  async #pull(wanted: Wanted, signal: AbortSignal): Promise<ImageOutcome> {
    const { request } = wanted;
    const image = request.container.image;
    const key = `${request.pod.metadata.uid}\0${image}`;
    const remainingMs = this.#backoff.remainingMs(key);
    if (remainingMs > 0) {
      const message = `Back-off pulling image "${image}"`;
      this.#record(request, 'BackOff', message);
      const detail = `${message}: ${this.#lastErrors.get(key) ?? ''}`;
      return { waiting: { reason: 'ImagePullBackOff', message: detail }, retryAtMs: Date.now() + remainingMs };
    }
    const requestedAtMs = performance.now();
    this.#record(request, 'Pulling', `Pulling image "${image}"`);
    try {
      const pulled = await this.#queue.run(() => this.#pullNow(wanted, signal), signal);
      const now = performance.now();
      const durations = `in ${formatDuration(now - pulled.startedAtMs)} (${formatDuration(now - requestedAtMs)} including waiting)`;
      const size = `Image size: ${pulled.image.size} bytes.`;
      this.#record(request, 'Pulled', `Successfully pulled image "${image}" ${durations}. ${size}`);
      this.#metrics?.pulled((now - requestedAtMs) / 1000, pulled.image.size);
      this.#backoff.forget(key);
      return { image: pulled.image };
    } catch (error) {
      signal.throwIfAborted();
      return this.#pullFailed(request, key, error);
    }
  }

  /** Schedules a sync shortly after the failed pull, which changes the status to ImagePullBackOff. */
  #pullFailed(request: ImageRequest, key: string, error: unknown): Waiting {
    const { image } = request.container;
    const { text, waiting } = pullFailure(image, error);
    this.#warn(request, 'Failed', `Failed to pull image "${image}": ${text}`);
    this.#lastErrors.set(key, `${waiting.reason}: ${waiting.message}`);
    const delayMs = this.#backoff.next(key);
    return { waiting, retryAtMs: Date.now() + Math.min(delayMs, PULL_BACKOFF_SHOWN_AFTER_MS) };
  }

  /** Pulls the image. Records the pull intent before the pull, and afterwards the credential that was used. */
  async #pullNow(wanted: Wanted, signal: AbortSignal): Promise<{ image: Image; startedAtMs: number }> {
    const startedAtMs = performance.now();
    const { access } = this.#options;
    const { image } = wanted.request.container;
    try {
      await access.begin(image);
    } catch (error) {
      const why = `Failed to record image pull intent for container image "${image}": ${errorMessage(error)}`;
      throw new Error(why, { cause: error });
    }
    try {
      const pulled = await this.#tryCredentials(wanted, signal);
      await access.succeed(image, pulled.image.id, pulled.used);
      return { image: pulled.image, startedAtMs };
    } catch (error) {
      await access.fail(image);
      throw error;
    }
  }

  /** Tries each credential that matches the image, or pulls anonymously if there are none. */
  async #tryCredentials(
    { request: { runtimeHandler, sandboxConfig }, name, credentials }: Wanted,
    signal: AbortSignal,
  ): Promise<{ image: Image; used: KeyringEntry | undefined }> {
    const image = { image: name, runtimeHandler };
    const entries = await credentials();
    const failures: unknown[] = [];
    for (const used of entries.length === 0 ? [undefined] : entries) {
      const auth = used?.credential;
      try {
        const { imageRef } = await this.#options.cri.image.pullImage({ image, auth, sandboxConfig }, { signal });
        const found = await this.#find(imageRef, runtimeHandler, signal);
        if (found !== undefined) return { image: found, used };
        failures.push(new Error(`the image "${name}" was pulled as ${imageRef} but is not there`));
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error);
      }
    }
    throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  }

  /** Returns the matching credentials: those from the pod's Secrets first, then the node's, then those from credential providers. */
  async #credentials(pod: Pod, reference: ImageReference): Promise<KeyringEntry[]> {
    const { objects, logger, dockerConfigPaths, events, providers } = this.#options;
    const secrets = pullSecretEntries(pod, objects, logger);
    for (const message of secrets.problems)
      events.event(eventSubject(pod), 'Warning', 'FailedToRetrieveImagePullSecret', message);
    const node = await readNodeKeyring(dockerConfigPaths, (path, error) => {
      logger.warn({ path, error: errorMessage(error) }, 'the docker configuration could not be read');
    });
    const provided = (await providers?.entriesFor(reference)) ?? [];
    return [...entriesFor(reference, secrets.entries), ...entriesFor(reference, node), ...provided];
  }

  #record({ pod, container }: ImageRequest, reason: string, message: string): void {
    this.#options.events.event(eventSubject(pod, container.name), 'Normal', reason, message);
  }

  #warn({ pod, container }: ImageRequest, reason: string, message: string): void {
    this.#options.events.event(eventSubject(pod, container.name), 'Warning', reason, message);
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined;
  return () => {
    begun ??= work();
    return begun;
  };
}
