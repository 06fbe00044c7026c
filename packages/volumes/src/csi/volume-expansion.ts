import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import {
  type BoundClaim,
  compareQuantities,
  type EventRecorder,
  type EventSubject,
  eventSubject,
  type Pod,
  uniqueVolumeName,
} from '@podwright/kube-api';
import { VolumeFailure } from '../volumes/volume-failure.ts';
import {
  type ClaimPatch,
  expansionFailed,
  expansionFinished,
  expansionInfeasible,
  expansionInProgress,
} from './claim-patches.ts';
import type { CsiObjects } from './csi-objects.ts';
import type { CsiVolume } from './csi-volume.ts';
import { type CallParts, expand } from './driver-calls.ts';
import { ExpansionFailure } from './expansion-failure.ts';

export type VolumeExpansionOptions = CallParts & {
  objects: CsiObjects;
  events: EventRecorder;
  logger: Logger;
  /** Returns the current time in RFC 3339 format, without fractional seconds. */
  now: () => string;
};

/** A volume that is mounted or mapped for a pod. */
export type PlacedVolume = {
  pod: Pod;
  volume: CsiVolume;
  /** Path of the volume in the pod's directory. */
  volumePath: string;
  /** Staging path of the volume; '' if it is not staged. */
  stagingPath: string;
};

type Attempt = PlacedVolume & { claim: BoundClaim; size: string };

/**
 * Makes drivers expand volumes on the node after their PersistentVolumes have grown, and updates the claims (upstream's NodeExpander). The
 * caller must not run more than one expansion per volume at a time.
 */
export class VolumeExpansion {
  readonly #options: VolumeExpansionOptions;
  /** Last known sizes of volumes as seen by pods, by unique volume name. */
  readonly #sizes = new Map<string, string>();
  /** Volumes that the driver refused to expand while in use. */
  readonly #notWhileUsed = new Set<string>();
  /** Volumes whose last expansion attempt was rejected by the driver. */
  readonly #refused = new Set<string>();

  constructor(options: VolumeExpansionOptions) {
    this.#options = options;
  }

  /** Drops the recorded size and expansion results of a volume. Must be called when the volume has left the node. */
  forget(key: string): void {
    this.#sizes.delete(key);
    this.#notWhileUsed.delete(key);
    this.#refused.delete(key);
  }

  /** Expands the volume before a pod uses it. Rejects if that fails and the pod must wait for a retry. */
  async beforeUse(placed: PlacedVolume, signal: AbortSignal): Promise<void> {
    const { size: wanted, claim: bound } = placed.volume.bound ?? {};
    if (bound === undefined || wanted === undefined) return;
    const claim = isLess(capacityOf(bound), wanted) ? await this.#read(bound, signal) : bound;
    const isShort = isLess(capacityOf(claim), wanted);
    const done = isShort ? await this.#expand(placed, { claim, size: wanted }, signal) : undefined;
    if (!placed.volume.readOnly) this.#sizes.set(uniqueVolumeName(placed.volume), done ?? capacityOf(claim));
  }

  /** Whether the PersistentVolume has outgrown the volume used by the pod, unless the claim is still waiting for the controller. */
  isDue({ volume }: Pick<PlacedVolume, 'volume'>): boolean {
    const { size: wanted, claim } = volume.bound ?? {};
    const key = uniqueVolumeName(volume);
    const size = this.#sizes.get(key);
    if (wanted === undefined || size === undefined || volume.readOnly || this.#notWhileUsed.has(key)) return false;
    return isLess(size, wanted) && !isWaiting(claim!);
  }

  /** Expands a volume in use. Rejects with `VolumeFailure`. */
  async inUse(placed: PlacedVolume, signal: AbortSignal): Promise<void> {
    const { volume } = placed;
    const { claim: bound, size } = volume.bound!;
    try {
      const claim = await this.#read(bound, signal);
      const done = await this.#expand(placed, { claim, size }, signal);
      if (done !== undefined) this.#sizes.set(uniqueVolumeName(volume), done);
    } catch (error) {
      const what = `NodeExpandVolume.NodeExpandVolume failed for volume "${volume.name}"`;
      throw new VolumeFailure(`${what} : ${errorMessage(error)}`, 'VolumeResizeFailed');
    }
  }

  async #read({ metadata }: BoundClaim, signal: AbortSignal): Promise<BoundClaim> {
    const { namespace, name } = metadata;
    return await this.#options.objects.claim({ namespace, name }, signal).catch((error: unknown) => {
      throw new PodwrightError('unavailable', `mountVolume.NodeExpandVolume get PVC failed : ${errorMessage(error)}`);
    });
  }

  /** Returns the volume's new size; `undefined` if the expansion must wait for the controller or until the volume is no longer in use. */
  async #expand(
    placed: PlacedVolume,
    { claim, size }: { claim: BoundClaim; size: string },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (placed.volume.readOnly) {
      this.#recordEvents(placed, claim, {
        type: 'Warning',
        reason: 'FileSystemResizeFailed',
        what: `MountVolume.NodeExpandVolume failed for volume "${placed.volume.name}" requested read-only file system`,
      });
      return capacityOf(claim);
    }
    if (isOfOldController(claim)) return await this.#expandPlainly({ ...placed, claim, size }, signal);
    return await this.#expandRecoverably({ ...placed, claim, size: allocatedOf(claim) }, signal);
  }

  /**
   * Expands the volume without recording progress in the claim, for controllers that do not do so either (upstream's
   * legacyCallNodeExpandOnPlugin).
   */
  async #expandPlainly(attempt: Attempt, signal: AbortSignal): Promise<string | undefined> {
    const { claim, size, volume } = attempt;
    try {
      await expand(this.#options, attempt, signal);
    } catch (error) {
      const kind = kindOf(error);
      if (kind === 'unsupported') return size;
      if (kind !== 'in-use') throw error;
      this.#notWhileUsed.add(uniqueVolumeName(volume));
      return undefined;
    }
    this.#recordGrowth(attempt);
    if (isLess(capacityOf(claim), size)) await this.#finish(attempt, 'update PVC status failed ', signal);
    return size;
  }

  async #expandRecoverably(attempt: Attempt, signal: AbortSignal): Promise<string | undefined> {
    const { claim, size, volume } = attempt;
    const step = nextStep(claim, size);
    if (step === 'none') return size;
    if (step === 'wait') return undefined;
    const begun = step === 'again' ? claim : await this.#patch(claim, expansionInProgress(claim), signal);
    try {
      await expand(this.#options, attempt, signal);
    } catch (error) {
      return await this.#failed({ ...attempt, claim: begun }, { error, isAgain: step === 'again' }, signal);
    }
    this.#refused.delete(uniqueVolumeName(volume));
    this.#recordGrowth(attempt);
    if (step !== 'again') await this.#finish({ ...attempt, claim: begun }, 'update pvc status failed', signal);
    return size;
  }

  async #failed(
    { claim, size, volume }: Attempt,
    { error, isAgain }: { error: unknown; isAgain: boolean },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const key = uniqueVolumeName(volume);
    const kind = kindOf(error);
    if (kind === 'unsupported' && isAgain) return size;
    if (signal.aborted) throw error;
    if (kind !== 'later') {
      // the driver rejected the old size, and the claim has since requested a different one: mark the old size as infeasible to make the
      // controller start over
      const isOutdated =
        this.#refused.has(key) && compareQuantities(claim.spec.resources?.requests?.storage ?? '0', size) !== 0;
      this.#refused.add(key);
      const failure = { why: errorMessage(error), now: this.#options.now() };
      const isInfeasible = kind === 'infeasible' || isOutdated;
      const patch = isInfeasible ? expansionInfeasible(claim, failure) : expansionFailed(claim, failure);
      await this.#patch(claim, patch, signal).catch((problem: unknown) => {
        const { logger } = this.#options;
        logger.warn(
          { volume: key, error: errorMessage(problem) },
          'cannot record in a claim that its volume did not grow',
        );
      });
    }
    if (kind !== 'in-use') throw error;
    this.#notWhileUsed.add(key);
    return undefined;
  }

  async #patch(claim: BoundClaim, patch: ClaimPatch, signal: AbortSignal): Promise<BoundClaim> {
    if (Object.keys(patch).length === 0) return claim;
    const { namespace, name } = claim.metadata;
    return await this.#options.objects.patchClaim({ namespace, name }, patch, signal).catch((error: unknown) => {
      throw new PodwrightError('unavailable', `patchPVCStatus failed to patch PVC "${name}": ${errorMessage(error)}`);
    });
  }

  async #finish({ claim, size }: Attempt, failed: string, signal: AbortSignal): Promise<void> {
    await this.#patch(claim, expansionFinished(claim, size), signal).catch((error: unknown) => {
      throw new PodwrightError('unavailable', `mountVolume.NodeExpandVolume ${failed}: ${errorMessage(error)}`);
    });
  }

  #recordGrowth(attempt: Attempt): void {
    const { pod, volume, claim } = attempt;
    const node = pod.spec.nodeName ?? '';
    const what = `MountVolume.NodeExpandVolume succeeded for volume "${volume.name}" ${node}`;
    this.#recordEvents(attempt, claim, { type: 'Normal', reason: 'FileSystemResizeSuccessful', what });
  }

  #recordEvents(
    { pod }: Pick<PlacedVolume, 'pod'>,
    claim: BoundClaim,
    { type, reason, what }: { type: 'Normal' | 'Warning'; reason: string; what: string },
  ): void {
    for (const about of [eventSubject(pod), claimSubject(claim)]) this.#options.events.event(about, type, reason, what);
  }
}

/**
 * Returns the expansion step that the node has to take next for the claim. `again`: the claim already has this size, but the volume may be
 * shared with pods on other nodes and must be expanded on this node too. Pure.
 */
export function nextStep({ metadata, spec, status }: BoundClaim, size: string): 'expand' | 'again' | 'none' | 'wait' {
  const state = status?.allocatedResourceStatuses?.storage ?? '';
  const hasSize = compareQuantities(capacityOf({ status }), size) >= 0 && state === '';
  const isShared = (spec.accessModes ?? []).includes('ReadWriteMany');
  const isNotNeeded = metadata.annotations?.['volume.kubernetes.io/node-expansion-not-required'] !== undefined;
  if (hasSize) return isShared && !isNotNeeded ? 'again' : 'none';
  return state === 'NodeResizePending' || state === 'NodeResizeInProgress' ? 'expand' : 'wait';
}

/** Whether the controller has yet to hand the expansion over to the node, or has to start over. */
function isWaiting(claim: BoundClaim): boolean {
  return !isOfOldController(claim) && nextStep(claim, allocatedOf(claim)) === 'wait';
}

function isOfOldController({ status }: BoundClaim): boolean {
  return status?.allocatedResources === undefined && (status?.allocatedResourceStatuses?.storage ?? '') === '';
}

function allocatedOf({ status }: BoundClaim): string {
  return status?.allocatedResources?.storage ?? '0';
}

function kindOf(error: unknown) {
  return error instanceof ExpansionFailure ? error.kind : 'failed';
}

function capacityOf({ status }: Pick<BoundClaim, 'status'>): string {
  return status?.capacity?.storage ?? '0';
}

function isLess(one: string, other: string): boolean {
  return compareQuantities(one, other) < 0;
}

function claimSubject({ metadata: { namespace, name, uid } }: BoundClaim): EventSubject {
  return { kind: 'PersistentVolumeClaim', namespace, name, uid };
}
