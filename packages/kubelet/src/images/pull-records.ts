/** Persistent records of image pulls, in upstream's format. */
import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorMessage, KeyedLock, type Logger, PRIVATE_DIRECTORY } from '@podwright/base';
import { namesIn, readJsonFile, writeFileDurable } from '@podwright/host';
import { MAX_PULL_RECORD_BYTES } from './limits.ts';
import { type Pulled, type PulledRecord, withPull } from './pull-credentials.ts';

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';

/**
 * Stores pull records on disk. `pulled/sha256-…` records a pulled image by its ID. `pulling/sha256-…` records the intent to pull an image
 * name, so that an interrupted pull is not mistaken for a preloaded image.
 */
export class PullRecords {
  readonly #directory: string;
  readonly #writes = new KeyedLock();
  readonly #pulled = new Map<string, PulledRecord>();
  /** Record files that could not be read. Pods must authenticate for the images of these records. */
  readonly #unreadable = new Set<string>();
  /** Number of pulls in progress by image name; 0 for a pull intent left behind when the kubelet exited during a pull. */
  readonly #pulling = new Map<string, number>();

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(directory: string, logger: Logger): Promise<PullRecords> {
    const records = new PullRecords(directory);
    await records.#load(
      'pulled',
      (file, value) => {
        if (isRecord(value) && fileName(value.imageRef) === file) records.#pulled.set(value.imageRef, value);
        else throw new Error('it holds no ImagePulledRecord of this name');
      },
      logger,
    );
    await records.#load(
      'pulling',
      (_, value) => {
        const { image } = value as { image?: unknown };
        if (typeof image === 'string') records.#pulling.set(image, 0);
      },
      logger,
    );
    return records;
  }

  /** Returns the pull record of an image. If its file could not be read, returns an empty record, which grants access to no pod. */
  find(imageRef: string): PulledRecord | undefined {
    const record = this.#pulled.get(imageRef);
    if (record === undefined && this.#unreadable.has(fileName(imageRef))) return { lastUpdatedTime: '', imageRef };
    return record;
  }

  isPulling(image: string): boolean {
    return this.#pulling.has(image);
  }

  /** Returns the names of images whose pull was interrupted when the kubelet last exited. */
  interrupted(): string[] {
    return [...this.#pulling].filter(([, pulls]) => pulls === 0).map(([image]) => image);
  }

  get counts(): { pulling: number; pulled: number } {
    return { pulling: this.#pulling.size, pulled: this.#pulled.size };
  }

  async begin(image: string): Promise<void> {
    const before = this.#pulling.get(image) ?? 0;
    this.#pulling.set(image, before + 1);
    if (before === 0) await this.#write('pulling', image, { kind: 'ImagePullIntent', apiVersion: API_VERSION, image });
  }

  /** Removes the pull intent for an image name. Must not be called until the result of the pull has been recorded. */
  async end(image: string): Promise<void> {
    const others = (this.#pulling.get(image) ?? 0) - 1;
    if (others > 0) return void this.#pulling.set(image, others);
    this.#pulling.delete(image);
    await this.#remove('pulling', image);
  }

  async add(pulled: Pulled): Promise<void> {
    const { imageRef } = pulled;
    const before = this.#pulled.get(imageRef);
    const record = withPull(before, pulled, new Date());
    if (record === before) return;
    this.#pulled.set(imageRef, record);
    this.#unreadable.delete(fileName(imageRef));
    const { lastUpdatedTime, credentialMapping } = record;
    const kind = { kind: 'ImagePulledRecord', apiVersion: API_VERSION };
    await this.#write('pulled', imageRef, { ...kind, lastUpdatedTime, imageRef, credentialMapping });
  }

  /** Removes the pull records of images that no longer exist, unless they were pulled after `sinceMs` (Unix milliseconds). */
  async prune(isThere: (imageRef: string) => boolean, sinceMs: number): Promise<void> {
    for (const { imageRef, lastUpdatedTime } of [...this.#pulled.values()]) {
      if (isThere(imageRef) || Date.parse(lastUpdatedTime) + 1000 > sinceMs) continue;
      this.#pulled.delete(imageRef);
      await this.#remove('pulled', imageRef);
    }
  }

  async #load(folder: string, take: (file: string, value: unknown) => void, logger: Logger): Promise<void> {
    const directory = join(this.#directory, folder);
    for (const file of await namesIn(directory)) {
      const path = join(directory, file);
      if (file.endsWith('.tmp')) await rm(path, { force: true, recursive: true });
      if (!/^sha256-[0-9a-f]{64}$/.test(file)) continue;
      try {
        take(file, await readJsonFile(path, MAX_PULL_RECORD_BYTES));
      } catch (error) {
        if (folder === 'pulled') this.#unreadable.add(file);
        logger.warn({ path, error: errorMessage(error) }, 'the record of a pulled image could not be read');
      }
    }
  }

  async #write(folder: string, key: string, value: object): Promise<void> {
    const path = join(this.#directory, folder, fileName(key));
    await this.#writes.run(path, async () => {
      await mkdir(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY });
      await writeFileDurable(path, JSON.stringify(value));
    });
  }

  async #remove(folder: string, key: string): Promise<void> {
    const path = join(this.#directory, folder, fileName(key));
    await this.#writes.run(path, () => rm(path, { force: true }));
  }
}

const fileName = (key: string) => `sha256-${createHash('sha256').update(key).digest('hex')}`;

function isRecord(value: unknown): value is PulledRecord {
  const { imageRef, lastUpdatedTime, credentialMapping = {} } = (value ?? {}) as Record<string, unknown>;
  if (typeof imageRef !== 'string' || typeof lastUpdatedTime !== 'string') return false;
  const credentials = typeof credentialMapping === 'object' ? Object.values(credentialMapping ?? {}) : [undefined];
  return credentials.every(
    (one) => typeof one === 'object' && one !== null && Array.isArray(one.kubernetesSecrets ?? []),
  );
}
