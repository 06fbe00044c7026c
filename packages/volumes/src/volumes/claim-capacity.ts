/** Decides which claims use more than their capacity. Their files are in directories of the node, which have no size limit. Pure. */
import { everyContainer, formatQuantity, isStaticPod, type Pod, type Volume } from '@podwright/kube-api';
import { ephemeralClaimName } from './ephemeral-claims.ts';

/** A claim whose files are in the directory `path` of this node. `capacityBytes` is absent if the claim has no limit. */
export type DirectoryClaim = { namespace: string; name: string; path: string; capacityBytes?: bigint };

/** A claim, and the name of the pod's volume that refers to it. */
export type UsedClaim = { volume: string; claim: DirectoryClaim };

/** The use of a volume. `time`: when it was measured; absent: recently. */
export type MeasuredVolume = { name: string; usedBytes?: number | undefined; time?: Date };

/** Measured sizes of a pod's volumes. A volume that was not measured is absent. */
export type PodVolumeUse = { podRef: { uid: string }; volume?: readonly MeasuredVolume[] | undefined };

/**
 * How much a claim may exceed its capacity: 5 %, but at least 16 MiB, because file systems round sizes up and directories use space too.
 */
const SLACK_DIVISOR = 20n;
const MIN_SLACK_BYTES = 16n << 20n;

/** Returns the key of a claim in `DirectoryClaims`. */
export const claimKey = ({ namespace, name }: { namespace: string; name: string }): string => `${namespace}/${name}`;

/** The directory claims of the node by `claimKey`. */
export type DirectoryClaims = ReadonlyMap<string, DirectoryClaim>;

/** Returns the claims that a container of the pod can write to: their names by the name of the volume. */
export function writableClaims(pod: Pod): Map<string, string> {
  const { spec } = pod;
  const mounts = everyContainer(spec).flatMap(({ volumeMounts = [] }) => volumeMounts);
  const written = new Set(mounts.filter(({ readOnly }) => readOnly !== true).map(({ name }) => name));
  const claims = (spec.volumes ?? []).flatMap((volume): [string, string][] => {
    const claim = claimOf(volume, pod);
    return claim !== undefined && written.has(volume.name) ? [[volume.name, claim]] : [];
  });
  return new Map(claims);
}

function claimOf(volume: Volume, pod: Pod): string | undefined {
  const { persistentVolumeClaim, ephemeral } = volume;
  if (ephemeral !== undefined) return ephemeralClaimName(pod, volume);
  return persistentVolumeClaim?.readOnly === true ? undefined : persistentVolumeClaim?.claimName;
}

/** Returns the claims with a limit that containers of the pod can write to. None for static pods: claims of manifests have no limit. */
export function limitedClaims(pod: Pod, claims: DirectoryClaims): UsedClaim[] {
  if (isStaticPod(pod)) return [];
  const { namespace } = pod.metadata;
  return [...writableClaims(pod)].flatMap(([volume, name]) => {
    const claim = claims.get(claimKey({ namespace, name }));
    return claim?.capacityBytes === undefined ? [] : [{ volume, claim }];
  });
}

/** Whether the use exceeds the claim's capacity by more than the slack. False without a capacity. */
export function isOverCapacity({ capacityBytes }: DirectoryClaim, usedBytes: number): boolean {
  if (capacityBytes === undefined) return false;
  const share = capacityBytes / SLACK_DIVISOR;
  return BigInt(usedBytes) > capacityBytes + (share > MIN_SLACK_BYTES ? share : MIN_SLACK_BYTES);
}

const MIB = 1 << 20;

const binaryText = (bytes: bigint): string => formatQuantity(bytes * 1_000_000_000n, bytes >= 1024n ? 'Ki' : '');

/** Formats a measured size, rounded to MiB if it is at least 1 MiB. */
const useText = (bytes: number): string => binaryText(BigInt(bytes < MIB ? bytes : Math.round(bytes / MIB) * MIB));

/** Returns the sentence for events and eviction messages about a claim that exceeds its capacity. It ends with a space, as upstream's. */
export function overCapacityText({ volume, claim }: UsedClaim, usedBytes: number): string {
  const [used, capacity] = [useText(usedBytes), binaryText(claim.capacityBytes ?? 0n)];
  return `Usage of the claim "${claim.name}" (volume "${volume}") is ${used}, more than its capacity ${capacity}. `;
}

/** Formats a claim for lists of the largest claims, with its use and its capacity: `shop/data (2Gi of 1Gi)`. */
export function claimUseText(claim: DirectoryClaim, usedBytes: number): string {
  const of = claim.capacityBytes === undefined ? '' : ` of ${binaryText(claim.capacityBytes)}`;
  return `${claimKey(claim)} (${useText(usedBytes)}${of})`;
}
