import { randomBytes } from 'node:crypto';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  describeUndoFailures,
  errorCode,
  isAlreadyExists,
  isNotFound,
  KeyedLock,
  PodwrightError,
  Undo,
  wrapError,
} from '@podwright/base';
import { measureTree } from '@podwright/host';
import type { ArrivingBlob } from '../content/arriving-blob.ts';
import type { ContentStore } from '../content/content-store.ts';
import { chainIds } from '../content/digest.ts';
import { MAX_ENTRY_OVERHEAD_BYTES, MAX_UNSEEN_LAYER_BYTES } from '../limits.ts';
import type { Snapshotter } from '../snapshots/snapshotter.ts';
import type { Descriptor } from '../spec/manifest.ts';
import type { UnpackLayer, UnpackResult } from '../unpack/unpack-options.ts';
import type { VerifiedLayers } from './verified-layers.ts';

/** Key prefix of snapshots that a layer is being unpacked into. Any found at startup are leftovers of a crash. */
export const UNPACK_KEY_PREFIX = 'unpack-';

/** A layer of an image: its blob, the expected digest of its uncompressed content, and the chain IDs of the layer and its parent. */
export type LayerStep = { descriptor: Descriptor; diffId: string; chainId: string; parentChainId: string };

/**
 * A layer that is being fetched. `started` resolves to the blob being downloaded, or to `undefined` if the blob already exists or is being
 * fetched by another call; `fetched` resolves when the blob has been stored and verified.
 */
export type LayerArrival = { started: Promise<ArrivingBlob | undefined>; fetched: Promise<void> };

/** The source of a layer: a blob in the content store, or one that is still being downloaded. */
type LayerFile = { blobPath: string; arriving?: ArrivingBlob; fetched?: Promise<void> };

/** Combines a manifest's layers with their diff IDs and chain IDs, bottom first. */
export function layerSteps(layers: Descriptor[], diffIds: string[]): LayerStep[] {
  const chain = chainIds(diffIds);
  return layers.map((descriptor, index) => ({
    descriptor,
    diffId: diffIds[index]!,
    chainId: chain[index]!,
    parentChainId: chain[index - 1] ?? '',
  }));
}

export type LayerSnapshotsOptions = {
  content: ContentStore;
  snapshotter: Snapshotter;
  unpackLayer: UnpackLayer;
  verified: VerifiedLayers;
};

/** Unpacks layers into snapshots committed under their chain IDs. Images that share a layer share its snapshot. */
export class LayerSnapshots {
  readonly #options: LayerSnapshotsOptions;
  readonly #locks = new KeyedLock();

  constructor(options: LayerSnapshotsOptions) {
    this.#options = options;
  }

  async has(chainId: string): Promise<boolean> {
    try {
      return (await this.#options.snapshotter.stat(chainId)).kind === 'committed';
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /**
   * Ensures that a layer is unpacked and that its blob has the layer's diff ID, even if the snapshot came from another image's blob. For
   * layers from registries and archives. Rejects with `data_loss` if the diff ID is wrong.
   */
  async ensure(step: LayerStep, { started, fetched }: LayerArrival, signal: AbortSignal): Promise<void> {
    const blob = await started;
    const work = async () => {
      if (await this.has(step.chainId)) return fetched.then(() => this.#verify(step, signal));
      if (blob !== undefined && (await this.#unpackArriving(step, { blob, fetched }, signal))) return;
      await fetched;
      await this.#unpack(step, this.#stored(step), signal);
    };
    return this.#locks.run(lockKey(step), work, signal);
  }

  /**
   * Unpacks a stored layer on top of its parent, which must exist. No-op if the layer is already unpacked. Rejects with `data_loss` if the
   * diff ID is wrong.
   */
  unpack(step: LayerStep, signal: AbortSignal): Promise<void> {
    const work = async () => {
      if (!(await this.has(step.chainId))) await this.#unpack(step, this.#stored(step), signal);
    };
    return this.#locks.run(lockKey(step), work, signal);
  }

  /** Removes the snapshot if `isUnneeded` returns true. Resolves to false if the snapshot was retained, does not exist, or has children. */
  async removeIf(chainId: string, isUnneeded: () => boolean): Promise<boolean> {
    if (!isUnneeded()) return false;
    try {
      await this.#options.snapshotter.remove(chainId);
      return true;
    } catch (error) {
      if (['not_found', 'failed_precondition'].includes(errorCode(error))) return false;
      throw error;
    }
  }

  #stored({ descriptor }: LayerStep): LayerFile {
    return { blobPath: this.#options.content.path(descriptor.digest) };
  }

  /**
   * Unpacks a blob while it is being downloaded. The snapshot is committed only after the blob has been verified. Resolves to false if the
   * blob is already complete, or if its bytes were wrong and it was refetched from another host; the caller must then unpack the stored
   * blob.
   */
  async #unpackArriving(
    step: LayerStep,
    { blob, fetched }: { blob: ArrivingBlob; fetched: Promise<void> },
    signal: AbortSignal,
  ): Promise<boolean> {
    await using file = await open(blob.path).catch(() => undefined);
    if (file === undefined) return false;
    const either = AbortSignal.any([signal, blob.failed]);
    try {
      // an open file descriptor remains readable after the file is renamed
      await this.#unpack(step, { blobPath: `/proc/self/fd/${file.fd}`, arriving: blob, fetched }, either);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      await fetched; // if the bytes were wrong, the transfer's error takes precedence
      if (!blob.failed.aborted) throw error;
      return false;
    }
  }

  async #unpack(step: LayerStep, file: LayerFile, signal: AbortSignal): Promise<void> {
    const { snapshotter } = this.#options;
    const key = `${UNPACK_KEY_PREFIX}${randomBytes(8).toString('hex')}`;
    const undo = new Undo();
    try {
      await snapshotter.prepare(key, step.parentChainId);
      undo.add(`remove snapshot ${key}`, () => snapshotter.remove(key));
      const result = await this.#fill(key, { step, file, signal });
      await file.fetched;
      file.arriving?.failed.throwIfAborted(); // another attempt may have resolved `fetched`; the bytes read here may still be wrong
      this.#note(step, result);
      await snapshotter.commit(step.chainId, key);
    } catch (error) {
      const failures = await undo.run();
      if (isAlreadyExists(error)) return;
      if (signal.aborted) throw signal.reason;
      const rest = failures.length === 0 ? '' : ` (and then ${describeUndoFailures(failures)})`;
      throw wrapError(`unpack layer ${step.descriptor.digest}${rest}`, error);
    }
  }

  async #fill(
    key: string,
    { step, file, signal }: { step: LayerStep; file: LayerFile; signal: AbortSignal },
  ): Promise<UnpackResult> {
    const { snapshotter, unpackLayer } = this.#options;
    const target = await snapshotter.unpackTarget(key);
    const { mediaType } = step.descriptor;
    const { blobPath, arriving } = file;
    return unpackLayer({ blobPath, arriving, mediaType, ...target, signal }).catch(async (error: unknown) => {
      // on a full disk, there might be no space to record the snapshot's removal until its files have been deleted, so delete them first
      if (errorCode(error) === 'resource_exhausted') await emptyDirectory(target.directory);
      throw error;
    });
  }

  /** Verifies that a blob has the layer's diff ID, by reading it without unpacking. No-op if already verified. */
  async #verify(step: LayerStep, signal: AbortSignal): Promise<void> {
    const { content, unpackLayer, verified } = this.#options;
    const { digest, mediaType } = step.descriptor;
    if (verified.has({ digest, diffId: step.diffId })) return;
    const blobPath = content.path(digest);
    const maxBytes = verified.streamBytesOf(step.diffId) ?? (await this.#maxStreamBytes(step.chainId, signal));
    const dryRun = { directory: '', overlayWhiteouts: false, isDryRun: true };
    try {
      this.#note(step, await unpackLayer({ blobPath, mediaType, maxBytes, ...dryRun, signal }));
    } catch (error) {
      throw signal.aborted ? signal.reason : wrapError(`unpack layer ${digest}`, error);
    }
  }

  /** Returns an upper bound on the uncompressed size of a layer with no recorded size, computed from its unpacked files. */
  async #maxStreamBytes(chainId: string, signal: AbortSignal): Promise<number> {
    const directory = await this.#options.snapshotter.layerDirectory(chainId);
    const { contentBytes, names } = await measureTree(directory, { signal });
    return 2 * contentBytes + MAX_ENTRY_OVERHEAD_BYTES * names + MAX_UNSEEN_LAYER_BYTES;
  }

  #note({ descriptor: { digest }, diffId }: LayerStep, result: UnpackResult): void {
    if (result.diffId !== diffId) {
      throw new PodwrightError('data_loss', `its uncompressed digest is ${result.diffId}, the config has ${diffId}`);
    }
    this.#options.verified.note({ digest, diffId }, result.streamBytes);
  }
}

/**
 * Returns the key of the lock for unpacking a layer. It includes the blob's digest, so that a slow transfer does not delay other blobs of
 * the same layer.
 */
function lockKey({ descriptor, chainId }: LayerStep): string {
  return `${descriptor.digest} ${chainId}`;
}

async function emptyDirectory(directory: string): Promise<void> {
  for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true, force: true });
}
