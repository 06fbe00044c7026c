/**
 * Decides which of the images on the node a pod may use without pulling them. Depending on the verification policy, these are only images
 * that the pod's or the node's credentials could pull.
 */
import { errorMessage, type Logger, type Registry } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { canonicalName } from '@podwright/kube-api';
import { needsVerification, type VerificationPolicy } from '@podwright/kubelet-configuration';
import { type AccessMetrics, accessMetrics } from './image-metrics.ts';
import type { KeyringEntry } from './keyring.ts';
import { accessTo, type PullSecret, usedCredentials } from './pull-credentials.ts';
import { PullRecords } from './pull-records.ts';

export type ImageAccessOptions = {
  cri: CriClient;
  /** Directory of the pull records, `<root>/image_manager`. */
  directory: string;
  policy: VerificationPolicy;
  logger: Logger;
  metrics?: Registry;
};

export class ImageAccess {
  readonly #options: ImageAccessOptions;
  readonly #metrics: AccessMetrics | undefined;
  #opened: Promise<PullRecords> | undefined;

  constructor(options: ImageAccessOptions) {
    this.#options = options;
    this.#metrics = options.metrics && accessMetrics(options.metrics);
  }

  /**
   * Returns true if a pod with the given Secrets must pull an image even though the node already has it under this name. Also returns true
   * if the pull records or the Secrets cannot be read.
   */
  async mustPull(image: string, imageRef: string, podSecrets: () => Promise<PullSecret[]>): Promise<boolean> {
    const result = await this.#check(image, imageRef, podSecrets);
    this.#metrics?.checked(result);
    return result === 'mustAuthenticate' || result === 'error';
  }

  async #check(image: string, imageRef: string, podSecrets: () => Promise<PullSecret[]>) {
    const { policy, logger } = this.#options;
    if (policy.kind === 'NeverVerify') return 'credentialPolicyAllowed';
    try {
      const records = await this.#records();
      const record = records.find(imageRef);
      const ours = record !== undefined || records.isPulling(image);
      if (!needsVerification(policy, image, ours)) return 'credentialPolicyAllowed';
      if (accessTo(record, image, () => []).allowed) return 'credentialRecordFound';
      const secrets = await podSecrets();
      const access = accessTo(record, image, () => secrets);
      if (!access.allowed) return 'mustAuthenticate';
      if (access.adds) await records.add({ image, imageRef, credentials: { kubernetesSecrets: [access.adds] } });
      return 'credentialRecordFound';
    } catch (error) {
      logger.error({ image, error: errorMessage(error) }, 'the records of pulled images could not be read');
      return 'error';
    }
  }

  /** Records the intent to pull. If this rejects, the image must not be pulled. */
  async begin(image: string): Promise<void> {
    await (await this.#records()).begin(image);
  }

  /** Records the pulled image and the credential used. Failures are logged, and the pull intent is left in place. */
  async succeed(image: string, imageRef: string, used: KeyringEntry | undefined): Promise<void> {
    await this.#settle(image, async (records) => {
      await records.add({ image, imageRef, credentials: usedCredentials(used) });
      await records.end(image);
    });
  }

  async fail(image: string): Promise<void> {
    await this.#settle(image, (records) => records.end(image));
  }

  /**
   * Removes the records of images not in `imageRefs`, a list taken at `atMs` (Unix milliseconds). Records written after that time are
   * retained.
   */
  async prune(imageRefs: readonly string[], atMs: number): Promise<void> {
    const there = new Set(imageRefs);
    await (await this.#records()).prune((imageRef) => there.has(imageRef), atMs);
  }

  async #settle(image: string, work: (records: PullRecords) => Promise<void>): Promise<void> {
    await this.#records()
      .then(work)
      .catch((error: unknown) =>
        this.#options.logger.error(
          { image, error: errorMessage(error) },
          'the record of a pulled image could not be written',
        ),
      );
  }

  async #records(): Promise<PullRecords> {
    this.#opened ??= this.#open();
    try {
      return await this.#opened;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  async #open(): Promise<PullRecords> {
    const { cri, directory, logger } = this.#options;
    const records = await PullRecords.open(directory, logger);
    this.#metrics?.follow(() => records.counts);
    const interrupted = records.interrupted();
    if (interrupted.length === 0) return records;
    const { images } = await cri.image.listImages({});
    for (const image of interrupted) {
      const name = canonicalName(image);
      const there = images.find(({ repoTags, repoDigests }) =>
        [...repoTags, ...repoDigests].map(canonicalName).includes(name),
      );
      if (there !== undefined) await records.add({ image, imageRef: there.id, credentials: undefined });
      await records.end(image);
    }
    return records;
  }
}
