/** Decides what the binder does with a claim or a volume (upstream's pkg/controller/volume/persistentvolume). Pure. */
import { compareQuantities, matchesLabelSelector, storageClassOf } from '@podwright/kube-api';
import type { Claim, StorageClass, Volume } from '../objects/storage.ts';

export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
export const PROVISIONER = 'volume.kubernetes.io/storage-provisioner';
export const BETA_PROVISIONER = 'volume.beta.kubernetes.io/storage-provisioner';
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class';
/** Annotations that mark a StorageClass as the default one. */
const DEFAULT_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];
/** Name prefix of upstream's in-tree volume plugins. None of them provisions volumes anymore. */
const IN_TREE = 'kubernetes.io/';
/** In-tree plugins whose volumes are provisioned by CSI drivers instead (CSI migration). */
const MIGRATED: ReadonlySet<string> = new Set(
  ['aws-ebs', 'azure-disk', 'azure-file', 'cinder', 'gce-pd', 'portworx-volume', 'vsphere-volume'].map(
    (name) => `${IN_TREE}${name}`,
  ),
);

export type ClaimDecision =
  | { type: 'bind'; volume: Volume }
  /** The claim is bound to its volume. Only the claim's status might be outdated. */
  | { type: 'bound'; volume: Volume }
  /** The claim is bound, but its volume does not exist. */
  | { type: 'lost'; reason: string; message: string }
  /** Sets the claim's class to the default class, which did not exist when the claim was created. */
  | { type: 'assign'; storageClassName: string }
  /** A provisioner has to create a volume for the claim. */
  | { type: 'provision'; provisioner: string }
  /** The claim cannot be bound or provisioned yet. The event says why. */
  | { type: 'wait'; event: 'Normal' | 'Warning'; reason: string; message: string };

type Cluster = {
  volumes: readonly Volume[];
  storageClass: StorageClass | undefined;
  defaultClass?: string | undefined;
};

export function decideClaim(claim: Claim, { volumes, storageClass, defaultClass }: Cluster): ClaimDecision {
  const { volumeName = '' } = claim.spec;
  if (claim.metadata.annotations?.[BIND_COMPLETED] === 'yes') return ofBound(claim, volumes);
  if (volumeName !== '') return ofNamed(claim, volumes);
  const reserved = volumes.find((volume) => refersTo(volume, claim));
  if (reserved !== undefined) return { type: 'bind', volume: reserved };
  const isDelayed = storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
  const selected = claim.metadata.annotations?.[SELECTED_NODE];
  if (isDelayed && selected === undefined)
    return waiting('WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
  const found = isDelayed ? undefined : matchingVolume(claim, volumes);
  if (found !== undefined) return { type: 'bind', volume: found };
  if (defaultClass !== undefined && !hasClass(claim)) return { type: 'assign', storageClassName: defaultClass };
  return ofUnmatched(claim, storageClass);
}

function ofBound(claim: Claim, volumes: readonly Volume[]): ClaimDecision {
  const { volumeName = '' } = claim.spec;
  const volume = volumes.find(({ metadata }) => metadata.name === volumeName);
  if (volumeName === '')
    return {
      type: 'lost',
      reason: 'ClaimLost',
      message: 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
    };
  if (volume === undefined)
    return {
      type: 'lost',
      reason: 'ClaimLost',
      message: 'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
    };
  if (refersTo(volume, claim)) return { type: 'bound', volume };
  if (volume.spec.claimRef === undefined) return ofFreeVolume(claim, volume);
  return {
    type: 'lost',
    reason: 'ClaimMisbound',
    message: 'Two claims are bound to the same volume, this one is bound incorrectly',
  };
}

/**
 * Decides what to do with a claim that is annotated as bound although its volume is not bound to any claim. Users can set this annotation,
 * so the volume must satisfy the claim, except for properties that can change after binding.
 */
function ofFreeVolume(claim: Claim, volume: Volume): ClaimDecision {
  const mismatch = lastingMismatch(volume, claim);
  if (mismatch === undefined) return { type: 'bind', volume };
  const message = `Cannot bind to requested volume "${volume.metadata.name}": ${mismatch}`;
  return { type: 'wait', event: 'Warning', reason: 'VolumeMismatch', message };
}

function ofNamed(claim: Claim, volumes: readonly Volume[]): ClaimDecision {
  const { volumeName = '' } = claim.spec;
  const volume = volumes.find(({ metadata }) => metadata.name === volumeName);
  if (volume === undefined) return waiting('FailedBinding', `volume "${volumeName}" does not exist`);
  const isReserved = volume.spec.claimRef !== undefined;
  const refused = (reason: string, message: string) => ({ type: 'wait', event: 'Warning', reason, message }) as const;
  if (isReserved && !refersTo(volume, claim))
    return refused('FailedBinding', `volume "${volumeName}" already bound to a different claim.`);
  if (isReserved) return { type: 'bind', volume };
  const isDeleted = volume.metadata.deletionTimestamp !== undefined;
  const mismatch = isDeleted ? `the volume is marked for deletion "${volumeName}"` : mismatchOf(volume, claim);
  if (mismatch === undefined) return { type: 'bind', volume };
  return refused('VolumeMismatch', `Cannot bind to requested volume "${volumeName}": ${mismatch}`);
}

/** Returns why the volume does not satisfy the claim, in upstream's wording. Ignores whether it is bound to another claim. */
function mismatchOf(volume: Volume, claim: Claim): string | undefined {
  const [own, { spec }] = [volume.spec, claim];
  if (compareQuantities(storageOf(own.capacity), storageOf(spec.resources?.requests)) < 0)
    return 'requested PV is too small';
  const isSame = (own.volumeAttributesClassName ?? '') === (spec.volumeAttributesClassName ?? '');
  return lastingMismatch(volume, claim) ?? (isSame ? undefined : 'volumeAttributesClassName does not match');
}

/** Like `mismatchOf`, but ignores the size and the attributes class, because a bound claim might have been expanded or modified. */
function lastingMismatch(volume: Volume, claim: Claim): string | undefined {
  const [own, { spec }] = [volume.spec, claim];
  if (storageClassOf(volume) !== storageClassOf(claim)) return 'storageClassName does not match';
  if ((own.volumeMode ?? 'Filesystem') !== (spec.volumeMode ?? 'Filesystem')) return 'incompatible volumeMode';
  const modes = own.accessModes ?? [];
  return (spec.accessModes ?? []).every((mode) => modes.includes(mode)) ? undefined : 'incompatible accessMode';
}

function ofUnmatched(claim: Claim, storageClass: StorageClass | undefined): ClaimDecision {
  const storageClassName = storageClassOf(claim);
  if (storageClassName === '')
    return waiting('FailedBinding', 'no persistent volumes available for this claim and no storage class is set');
  const failed = (message: string) =>
    ({ type: 'wait', event: 'Warning', reason: 'ProvisioningFailed', message }) as const;
  if (storageClass === undefined) return failed(`storageclass.storage.k8s.io "${storageClassName}" not found`);
  const { provisioner } = storageClass;
  if (provisioner.startsWith(IN_TREE) && !MIGRATED.has(provisioner))
    return failed(`no volume plugin matched name: ${provisioner}`);
  return { type: 'provision', provisioner };
}

/** Whether the claim specifies a class, including '' for none. */
const hasClass = ({ metadata, spec }: Claim): boolean =>
  metadata.annotations?.[BETA_CLASS] !== undefined || spec.storageClassName !== undefined;

/** Returns the name of the newest default class. Ties are broken by name. */
export function defaultClassOf(classes: readonly StorageClass[]): string | undefined {
  const isDefault = ({ metadata: { annotations = {} } }: StorageClass) =>
    DEFAULT_CLASS.some((name) => annotations[name] === 'true');
  const created = ({ metadata }: StorageClass) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  const [newest] = classes
    .filter(isDefault)
    .sort((a, b) => created(b) - created(a) || (a.metadata.name < b.metadata.name ? -1 : 1));
  return newest?.metadata.name;
}

const waiting = (reason: string, message: string): ClaimDecision => ({
  type: 'wait',
  event: 'Normal',
  reason,
  message,
});

/** Whether the volume is reserved for the claim or bound to it. A reservation by a user has no UID. */
export function refersTo({ spec: { claimRef } }: Volume, { metadata: { namespace, name, uid } }: Claim): boolean {
  if (claimRef?.namespace !== namespace || claimRef.name !== name) return false;
  return (claimRef.uid ?? '') === '' || claimRef.uid === uid;
}

/** Returns the smallest available volume that satisfies the claim. Ties are broken by name. */
export function matchingVolume(claim: Claim, volumes: readonly Volume[]): Volume | undefined {
  const { spec } = claim;
  return volumes
    .filter((volume) => {
      const { metadata, spec: own, status } = volume;
      const isFree = own.claimRef === undefined && metadata.deletionTimestamp === undefined;
      return (
        isFree &&
        status?.phase !== 'Released' &&
        mismatchOf(volume, claim) === undefined &&
        (spec.selector === undefined || matchesLabelSelector(spec.selector, metadata.labels))
      );
    })
    .sort((a, b) => {
      const difference = compareQuantities(storageOf(a.spec.capacity), storageOf(b.spec.capacity));
      return difference !== 0 ? difference : a.metadata.name < b.metadata.name ? -1 : 1;
    })[0];
}

const storageOf = (amounts: Readonly<Record<string, string>> = {}): string => amounts.storage ?? '0';

/** Returns the phase of a volume. `claim` is the claim with the namespace and name in the volume's `claimRef`, if it exists. */
export function volumePhase(
  { spec: { claimRef } }: Volume,
  claim: Claim | undefined,
): 'Available' | 'Bound' | 'Released' {
  if (claimRef === undefined || (claimRef.uid ?? '') === '') return 'Available';
  return claim?.metadata.uid === claimRef.uid ? 'Bound' : 'Released';
}
