import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
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
  bring(step: LayerStep, signal: AbortSignal): Promise<void> {
    const work = async () => {
      if (!(await this.has(step.chainId))) await this.#unpack(step, signal);
      else await this.#verify(step, signal);
    };
    return this.#locks.run(step.chainId, work, signal);
  }

  /** Unpacks a layer onto its parent, which must be there, unless that was done before. `data_loss` for a wrong diff id. */
  unpack(step: LayerStep, signal: AbortSignal): Promise<void> {
    const work = async () => {
      if (!(await this.has(step.chainId))) await this.#unpack(step, signal);
    };
    return this.#locks.run(step.chainId, work, signal);
  }

  /** Removes the snapshot if `isUnneeded` still says so once it is not being made. False if others build on it. */
  removeIf(chainId: string, isUnneeded: () => boolean): Promise<boolean> {
    return this.#locks.run(chainId, async () => {
      if (!isUnneeded()) return false;
      try {
        await this.#options.snapshotter.remove(chainId);
        return true;
      } catch (error) {
        if (['not_found', 'failed_precondition'].includes(errorCode(error))) return false;
        throw error;
      }
    });
  }

  async #unpack(step: LayerStep, signal: AbortSignal): Promise<void> {
    const { snapshotter } = this.#options;
    const key = `${UNPACK_KEY_PREFIX}${randomBytes(8).toString('hex')}`;
    const undo = new Undo();
    try {
      await snapshotter.prepare(key, step.parentChainId);
      undo.add(`remove snapshot ${key}`, () => snapshotter.remove(key));
      await this.#fill(key, step, signal);
      await snapshotter.commit(step.chainId, key);
    } catch (error) {
      const failures = await undo.run();
      if (isAlreadyExists(error)) return;
      if (signal.aborted) throw signal.reason;
      const rest = failures.length === 0 ? '' : ` (and then ${describeUndoFailures(failures)})`;
      throw wrapError(`unpack layer ${step.descriptor.digest}${rest}`, error);
    }
  }

  async #fill(key: string, step: LayerStep, signal: AbortSignal): Promise<void> {
    const { content, snapshotter, unpackLayer } = this.#options;
    const target = await snapshotter.unpackTarget(key);
    const { mediaType, digest } = step.descriptor;
    const result = await unpackLayer({ blobPath: content.path(digest), mediaType, ...target, signal }).catch(
      async (error: unknown) => {
        // on a full disk the records could not even note that the snapshot goes
        if (errorCode(error) === 'resource_exhausted') await emptyDirectory(target.directory);
        throw error;
      },
    );
    this.#note(step, result);
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

async function emptyDirectory(directory: string): Promise<void> {
  for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true, force: true });
}
