import { errorMessage, KeyedLock, type Logger, PodwrightError } from '@podwright/base';
import {
  type BoundClaim,
  type BoundVolume,
  namespacedName,
  type PersistentVolume,
  type Pod,
} from '@podwright/kube-api';
import { apiMessage, type KubeClient, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '@podwright/kube-client';
import { ephemeralClaimName } from '../volumes/ephemeral-claims.ts';

const CLAIM_TIMEOUT_MS = 30_000;

/** Minimum interval between reads of a bound claim and its volume. After that, the next sync of the pod triggers another read. */
const CLAIM_REREAD_MS = 1000;

const PROTECTION_FINALIZER = 'kubernetes.io/pvc-protection';

/** A bound claim with its volume, and when they were last read. */
type Found = { bound: BoundVolume; askedAtMs: number; isAsking?: boolean };

export type ClaimLookupOptions = {
  client: Pick<KubeClient, 'get'>;
  logger: Logger;
  /** Called when the size of a pod's volume or of its claim changes. */
  onSize?: (podUid: string) => void;
  /** Returns the current time in milliseconds. */
  now?: () => number;
};

/**
 * Finds the PersistentVolumes that claims are bound to. Results are cached per pod, because a bound claim stays bound. Only the sizes of
 * CSI volumes can change; they are reread in the background whenever the pod is synced.
 */
export class ClaimLookup {
  readonly #options: ClaimLookupOptions;
  readonly #now: () => number;
  readonly #found = new Map<string, Map<string, Found>>();
  readonly #locks = new KeyedLock();

  constructor(options: ClaimLookupOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * Returns the volume that a claim is bound to. As long as the claim is not usable, rejects with `failed_precondition` and upstream's
   * message.
   */
  volumeOf(pod: Pod, claimName: string, signal: AbortSignal): Promise<BoundVolume> {
    const { uid, namespace } = pod.metadata;
    return this.#locks.run(`${uid} ${claimName}`, async () => {
      const known = this.#found.get(uid)?.get(claimName);
      if (known !== undefined) {
        this.#refresh(pod, claimName, known);
        return known.bound;
      }
      const bound = await this.#lookUp(pod, claimName, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new PodwrightError(
          'failed_precondition',
          `error processing PVC ${namespace}/${claimName}: ${apiMessage(error)}`,
          { cause: error },
        );
      });
      const ofPod = this.#found.get(uid) ?? new Map<string, Found>();
      this.#found.set(uid, ofPod.set(claimName, { bound, askedAtMs: this.#now() }));
      return bound;
    });
  }

  /** Drops a pod's cached claims. Must be called when the pod is removed. */
  release(podUid: string): void {
    this.#found.delete(podUid);
  }

  /** Rereads a claim and its volume in the background. On failure, the cached ones are retained. */
  #refresh(pod: Pod, claimName: string, known: Found): void {
    const { uid } = pod.metadata;
    if (known.bound.volume.spec.csi === undefined || this.#now() - known.askedAtMs < CLAIM_REREAD_MS) return;
    // read only once at a time, so that the result of an older read cannot overwrite that of a newer one
    if (known.isAsking) return;
    known.askedAtMs = this.#now();
    known.isAsking = true;
    const refresh = async () => {
      const bound = await this.#lookUp(pod, claimName, AbortSignal.timeout(CLAIM_TIMEOUT_MS));
      if (this.#found.get(uid)?.get(claimName) !== known) return;
      const isSame = sizesOf(known.bound) === sizesOf(bound);
      known.bound = bound;
      if (!isSame) this.#options.onSize?.(uid);
    };
    const log = (error: unknown) =>
      this.#options.logger.debug(
        { uid, claim: claimName, error: errorMessage(error) },
        'cannot read a claim again; using its cached state',
      );
    void refresh()
      .catch(log)
      .finally(() => {
        known.isAsking = false;
      });
  }

  async #lookUp(pod: Pod, name: string, signal: AbortSignal): Promise<BoundVolume> {
    const { namespace } = pod.metadata;
    const { client } = this.#options;
    const claim = await this.#fetch('PVC', () =>
      client.get<BoundClaim>(PERSISTENT_VOLUME_CLAIMS, { namespace, name }, { signal }),
    );
    checkOwner(pod, claim);
    const volumeName = checkBound(claim);
    const volume = await this.#fetch(`PV ${volumeName}`, () =>
      client.get<PersistentVolume>(PERSISTENT_VOLUMES, { name: volumeName }, { signal }),
    );
    checkClaimed(volume, claim);
    return { claim, volume };
  }

  async #fetch<T>(what: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw new PodwrightError('unavailable', `failed to fetch ${what} from API server: ${apiMessage(error)}`);
    }
  }
}

/** Serializes all sizes that determine whether a volume must be expanded, for comparison. */
function sizesOf({ claim, volume }: BoundVolume): string {
  const { capacity, allocatedResources, allocatedResourceStatuses } = claim.status ?? {};
  const sizes = [volume.spec.capacity, capacity, allocatedResources, allocatedResourceStatuses];
  return JSON.stringify(sizes.map((size) => size?.storage));
}

/** Throws if the claim of an `ephemeral` volume is not owned by the pod; having the right name is not enough. */
function checkOwner(pod: Pod, { metadata }: BoundClaim): void {
  const isEphemeral = (pod.spec.volumes ?? []).some(
    (volume) => volume.ephemeral !== undefined && ephemeralClaimName(pod, volume) === metadata.name,
  );
  const isOwned = (metadata.ownerReferences ?? []).some((owner) => owner.controller && owner.uid === pod.metadata.uid);
  if (!isEphemeral || isOwned) return;
  const names = `PVC ${metadata.namespace}/${metadata.name} was not created for pod ${namespacedName(pod)}`;
  throw new PodwrightError('failed_precondition', `${names} (pod is not owner)`);
}

/**
 * Returns the name of the volume that the claim is bound to. Throws if the claim is not bound, or is being deleted and no longer protected
 * by a finalizer.
 */
function checkBound({ metadata, spec, status }: BoundClaim): string {
  const refuse = (why: string) => new PodwrightError('failed_precondition', why);
  const isProtected = (metadata.finalizers ?? []).includes(PROTECTION_FINALIZER);
  if (metadata.deletionTimestamp !== undefined && !isProtected) throw refuse('PVC is being deleted');
  if (status?.phase !== 'Bound') throw refuse('PVC is not bound');
  const volumeName = spec?.volumeName ?? '';
  if (volumeName === '') throw refuse('PVC has empty pvc.Spec.VolumeName');
  return volumeName;
}

function checkClaimed({ metadata: { name }, spec }: PersistentVolume, claim: BoundClaim): void {
  const refuse = (why: string) => new PodwrightError('failed_precondition', `found PV object ${name} but ${why}`);
  const uid = spec?.claimRef?.uid;
  if (spec?.claimRef === undefined || spec.claimRef === null)
    throw refuse('it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim');
  if (uid !== claim.metadata.uid)
    throw refuse(`its pv.Spec.ClaimRef.UID ${uid ?? ''} does not point to claim.UID ${claim.metadata.uid}`);
}
