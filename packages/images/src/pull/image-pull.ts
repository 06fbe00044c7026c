import { type Broadcast, type Logger, PodwrightError, type TraceWork } from '@podwright/base';
import type { ContentStore } from '../content/content-store.ts';
import { sha256Digest } from '../content/digest.ts';
import { Authorizer } from '../registry/authorizer.ts';
import { downloadBlob } from '../registry/blob-download.ts';
import type { HttpClient } from '../registry/http-client.ts';
import type { RegistryAuth } from '../registry/registry-auth.ts';
import { RegistryClient, type Resolved } from '../registry/registry-client.ts';
import { loadRegistryHosts } from '../registry/registry-hosts.ts';
import type { RetryPolicy } from '../registry/retry.ts';
import { formatReference, parseReference, type Reference, repositoryOf } from '../spec/reference.ts';
import type { BlobSource, ImageInstaller, InstalledImage } from '../store/image-install.ts';
import type { ImageRecords } from '../store/image-records.ts';
import type { TransferProgress } from '../store/image-service.ts';
import type { Leases } from '../store/leases.ts';
import { TransferTracker } from '../store/transfer-progress.ts';
import type { FailedPulls } from './failed-pulls.ts';
import { SharedTasks } from './shared-task.ts';

export type ImagePullerOptions = {
  content: ContentStore;
  installer: ImageInstaller;
  records: ImageRecords;
  leases: Leases;
  failedPulls: FailedPulls;
  http: HttpClient;
  registryConfigDir: string;
  retryPolicy: RetryPolicy;
  progress: Broadcast<TransferProgress>;
  trace: TraceWork;
  logger: Logger;
};

/** Pulls images from registries. Concurrent calls for the same reference with the same credentials share one pull. */
export class ImagePuller {
  readonly #options: ImagePullerOptions;
  readonly #tasks = new SharedTasks();

  constructor(options: ImagePullerOptions) {
    this.#options = options;
  }

  /**
   * Resolves and pulls the reference `text`, and returns the image's ID. If the name belongs to another image, it is moved to the pulled
   * image.
   */
  pull(text: string, auth: RegistryAuth, signal: AbortSignal): Promise<string> {
    const reference = parseReference(text);
    // the key includes the credentials: a caller must not join a pull with different ones, because it might not be authorized for that
    // image
    const key = `${formatReference(reference)} ${sha256Digest(JSON.stringify(Object.entries(auth).sort()))}`;
    return this.#tasks.run(key, signal, (shared) => this.#track(reference, auth, shared));
  }

  /** Aborts the running pulls. */
  async close(): Promise<void> {
    await this.#tasks.close(new PodwrightError('cancelled', 'pull image: the runtime is stopping'));
    this.#options.failedPulls.close();
  }

  async #track(reference: Reference, auth: RegistryAuth, signal: AbortSignal): Promise<string> {
    const { progress, logger } = this.#options;
    const name = formatReference(reference);
    const tracker = new TransferTracker(progress, name);
    const startedAtMs = Date.now();
    try {
      const image = await this.#pull(reference, { auth, tracker, signal });
      logger.info({ image: name, id: image.id, bytes: image.sizeBytes, ms: Date.now() - startedAtMs }, 'pulled image');
      tracker.finish();
      return image.id;
    } catch (error) {
      tracker.fail(error);
      throw error;
    }
  }

  async #pull(
    reference: Reference,
    { auth, tracker, signal }: { auth: RegistryAuth; tracker: TransferTracker; signal: AbortSignal },
  ): Promise<InstalledImage> {
    const { installer, records, leases, failedPulls, trace } = this.#options;
    const name = formatReference(reference);
    const client = await this.#connect(reference, auth, signal);
    const resolved = await trace('resolve', () => client.resolve());
    const target = resolved.descriptor;
    const lease = leases.open();
    try {
      const source = this.#source(client, resolved);
      const image = await installer.install({ what: `pull ${name}`, target, source, lease, tracker, signal });
      records.put({
        ...image,
        tags: reference.digest === undefined ? [name] : [],
        digests: [`${repositoryOf(reference)}@${target.digest}`],
        isLoaded: false,
      });
      lease[Symbol.dispose]();
      failedPulls.succeeded(name);
      return image;
    } catch (error) {
      await failedPulls.takeOver(lease, { name, error, isCancelled: signal.aborted });
      throw error;
    }
  }

  async #connect(reference: Reference, auth: RegistryAuth, signal: AbortSignal): Promise<RegistryClient> {
    const { http, registryConfigDir, retryPolicy } = this.#options;
    const hosts = await loadRegistryHosts(registryConfigDir, reference.domain);
    const authorizer = new Authorizer({ http, auth, repositoryPath: reference.path, signal });
    return new RegistryClient({ http, authorizer, hosts, reference, retryPolicy, signal });
  }

  #source(client: RegistryClient, resolved: Resolved): BlobSource {
    const { content, retryPolicy } = this.#options;
    return {
      readManifest: async (descriptor) =>
        resolved.data !== undefined && descriptor.digest === resolved.descriptor.digest
          ? resolved.data
          : client.fetchManifest(descriptor),
      fetchBlob: (descriptor, options) => downloadBlob({ client, content, descriptor, retryPolicy, ...options }),
    };
  }
}
