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
import type { ArrivingBlob } from '../content/arriving-blob.ts';
import type { ContentStore } from '../content/content-store.ts';
import { chainIds } from '../content/digest.ts';
import { MAX_ENTRY_OVERHEAD_BYTES, MAX_UNSEEN_LAYER_BYTES } from '../limits.ts';
import { measureTree } from '../snapshots/disk-usage.ts';
import type { Snapshotter } from '../snapshots/snapshotter.ts';
import type { Descriptor } from '../spec/manifest.ts';
import type { UnpackLayer, UnpackResult } from '../unpack/unpack-options.ts';
import type { VerifiedLayers } from './verified-layers.ts';

/** Begins the key of a snapshot that a layer is being unpacked into; what bears it at a start was left by a crash. */
export const UNPACK_KEY_PREFIX = 'unpack-';

/** One layer of an image: its blob, and what it must unpack to. */
export type LayerStep = { descriptor: Descriptor; diffId: string; chainId: string; parentChainId: string };

/** A layer's blob on its way: its file, unless it is there or another call brings it, and when it is there, verified. */
export type LayerArrival = { begun: Promise<ArrivingBlob | undefined>; whole: Promise<void> };

/** What a layer is unpacked from: its blob in the content store, or one that is still coming. */
type LayerFile = { blobPath: string; arriving?: ArrivingBlob; whole?: Promise<void> };

/** The layers of a manifest with the chain ids that their diff ids lead to, bottom first. */
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

/** Packed layers as committed snapshots under their chain ids; images that share a layer share its snapshot. */
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
   * Makes sure that a layer is unpacked, and that its blob is what it was made from, or could have been. `data_loss` for a
   * wrong diff id. For layers that come from outside: the snapshot may be there by another image's blob.
   */
  async bring(step: LayerStep, { begun, whole }: LayerArrival, signal: AbortSignal): Promise<void> {
    const blob = await begun;
    const work = async () => {
      if (await this.has(step.chainId)) return whole.then(() => this.#verify(step, signal));
      if (blob !== undefined && (await this.#unpackArriving(step, { blob, whole }, signal))) return;
      await whole;
      await this.#unpack(step, this.#stored(step), signal);
    };
    return this.#locks.run(lockKey(step), work, signal);
  }

  /** Unpacks a layer onto its parent, which must be there, unless that was done before. `data_loss` for a wrong diff id. */
  unpack(step: LayerStep, signal: AbortSignal): Promise<void> {
    const work = async () => {
      if (!(await this.has(step.chainId))) await this.#unpack(step, this.#stored(step), signal);
    };
    return this.#locks.run(lockKey(step), work, signal);
  }

  /** Removes the snapshot if `isUnneeded` says so. False if it is not there, or others build on it. */
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
   * Unpacks a blob while it comes, into a snapshot that nobody sees before the blob is verified. False if its file is there by
   * now, or if its bytes were wrong and another host had the right ones: then it is to be unpacked from the content store.
   */
  async #unpackArriving(
    step: LayerStep,
    { blob, whole }: { blob: ArrivingBlob; whole: Promise<void> },
    signal: AbortSignal,
  ): Promise<boolean> {
    await using file = await open(blob.path).catch(() => undefined);
    if (file === undefined) return false;
    const either = AbortSignal.any([signal, blob.failed]);
    try {
      // by our descriptor it is the same file when it has moved to its place
      await this.#unpack(step, { blobPath: `/proc/self/fd/${file.fd}`, arriving: blob, whole }, either);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      await whole; // wrong bytes are the transfer's fault, and it says so
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
      await file.whole;
      file.arriving?.failed.throwIfAborted(); // `whole` may be of another attempt's bytes
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
      // on a full disk the records could not even note that the snapshot goes
      if (errorCode(error) === 'resource_exhausted') await emptyDirectory(target.directory);
      throw error;
    });
  }

  /** Reads a blob that was not read before, to see whether it is this layer. */
  async #verify(step: LayerStep, signal: AbortSignal): Promise<void> {
    const { content, unpackLayer, verified } = this.#options;
    const { digest, mediaType } = step.descriptor;
    if (verified.has({ digest, diffId: step.diffId })) return;
    const blobPath = content.path(digest);
    const maxBytes = verified.streamBytesOf(step.diffId) ?? (await this.#mostStreamBytes(step.chainId, signal));
    const where = { directory: '', overlayWhiteouts: false, isDryRun: true };
    try {
      this.#note(step, await unpackLayer({ blobPath, mediaType, maxBytes, ...where, signal }));
    } catch (error) {
      throw signal.aborted ? signal.reason : wrapError(`unpack layer ${digest}`, error);
    }
  }

  /** More than any packing of a layer unpacks to whose size was not noted when it was unpacked, by what is there of it. */
  async #mostStreamBytes(chainId: string, signal: AbortSignal): Promise<number> {
    const directory = await this.#options.snapshotter.layerDirectory(chainId);
    const { contentBytes, names } = await measureTree(directory, signal);
    return 2 * contentBytes + MAX_ENTRY_OVERHEAD_BYTES * names + MAX_UNSEEN_LAYER_BYTES;
  }

  #note({ descriptor: { digest }, diffId }: LayerStep, result: UnpackResult): void {
    if (result.diffId !== diffId) {
      throw new PodwrightError('data_loss', `it unpacks to ${result.diffId}, the config says ${diffId}`);
    }
    this.#options.verified.note({ digest, diffId }, result.streamBytes);
  }
}

/** Not of the chain id alone: who sends a blob slowly must not hold up those who have another one for the same layer. */
function lockKey({ descriptor, chainId }: LayerStep): string {
  return `${descriptor.digest} ${chainId}`;
}

async function emptyDirectory(directory: string): Promise<void> {
  for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true, force: true });
}
