import { KeyedLock, PodwrightError } from '@podwright/base';
import { type KubeClient, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '@podwright/kube-client';
import { type BoundClaim, namespacedName, type PersistentVolume, type Pod } from '../api/types.ts';
import { ephemeralClaimName } from '../volumes/ephemeral-claims.ts';
import { apiMessage } from './api-message.ts';

const PROTECTION_FINALIZER = 'kubernetes.io/pvc-protection';

/** Finds the volumes that claims of the API server are bound to. A pod keeps what was found for it: bound claims stay so. */
export class ClaimLookup {
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #found = new Map<string, Map<string, PersistentVolume>>();
  readonly #locks = new KeyedLock();

  constructor(client: Pick<KubeClient, 'get'>) {
    this.#client = client;
  }

  /** Rejects with `failed_precondition` and upstream's words where the pod has to wait. */
  volumeOf(pod: Pod, claimName: string, signal: AbortSignal): Promise<PersistentVolume> {
    const { uid, namespace } = pod.metadata;
    return this.#locks.run(`${uid} ${claimName}`, async () => {
      const known = this.#found.get(uid)?.get(claimName);
      if (known !== undefined) return known;
      const found = await this.#lookUp(pod, claimName, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new PodwrightError(
          'failed_precondition',
          `error processing PVC ${namespace}/${claimName}: ${apiMessage(error)}`,
          { cause: error },
        );
      });
      const ofPod = this.#found.get(uid) ?? new Map<string, PersistentVolume>();
      this.#found.set(uid, ofPod.set(claimName, found));
      return found;
    });
  }

  /** The pod needs nothing any more. */
  release(podUid: string): void {
    this.#found.delete(podUid);
  }

  async #lookUp(pod: Pod, name: string, signal: AbortSignal): Promise<PersistentVolume> {
    const { namespace } = pod.metadata;
    const claim = await this.#fetch('PVC', () =>
      this.#client.get<BoundClaim>(PERSISTENT_VOLUME_CLAIMS, { namespace, name }, { signal }),
    );
    checkOwner(pod, claim);
    const volumeName = checkBound(claim);
    const volume = await this.#fetch(`PV ${volumeName}`, () =>
      this.#client.get<PersistentVolume>(PERSISTENT_VOLUMES, { name: volumeName }, { signal }),
    );
    checkClaimed(volume, claim);
    return volume;
  }

  async #fetch<T>(what: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw new PodwrightError('unavailable', `failed to fetch ${what} from API server: ${apiMessage(error)}`);
    }
  }
}

/** The claim of an `ephemeral` volume is the pod's own; another one of that name is not taken. */
function checkOwner(pod: Pod, { metadata }: BoundClaim): void {
  const isEphemeral = (pod.spec.volumes ?? []).some(
    (volume) => volume.ephemeral !== undefined && ephemeralClaimName(pod, volume) === metadata.name,
  );
  const isOwned = (metadata.ownerReferences ?? []).some((owner) => owner.controller && owner.uid === pod.metadata.uid);
  if (!isEphemeral || isOwned) return;
  const names = `PVC ${metadata.namespace}/${metadata.name} was not created for pod ${namespacedName(pod)}`;
  throw new PodwrightError('failed_precondition', `${names} (pod is not owner)`);
}

/** The name of the volume that the claim has. */
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
