/** Decides which claims exceed their capacity. Their files are in directories of the node, which have no size limit. Pure. */
import { everyContainer, formatQuantity, isStaticPod, type Pod, type Volume } from '@podwright/kube-api';
import { ephemeralClaimName } from './ephemeral-claims.ts';

/** A claim whose files are in the directory `path` of this node. `capacityBytes` is undefined if the claim has no limit. */
export type DirectoryClaim = { namespace: string; name: string; path: string; capacityBytes?: bigint };

/** A claim, and the pod's name for the volume that refers to it. */
export type UsedClaim = { volume: string; claim: DirectoryClaim };

/** The usage of a volume. `time`: when it was measured; undefined means recently. */
export type MeasuredVolume = { name: string; usedBytes?: number | undefined; time?: Date };

/** The measured usage of a pod's volumes. Unmeasured volumes are omitted. */
export type PodVolumeUse = { podRef: { uid: string }; volume?: readonly MeasuredVolume[] | undefined };

/**
 * Slack for exceeding a claim's capacity: 5 %, but at least 16 MiB, because file systems round up sizes and directories take up space too.
 */
const SLACK_DIVISOR = 20n;
const MIN_SLACK_BYTES = 16n << 20n;

/** Returns a claim's key in `DirectoryClaims`. */
export const claimKey = ({ namespace, name }: { namespace: string; name: string }): string => `${namespace}/${name}`;

/** The node's directory claims, by `claimKey`. */
export type DirectoryClaims = ReadonlyMap<string, DirectoryClaim>;

/** Returns the names of the claims that the pod's containers can write to, by volume name. */
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

/**
 * Returns the claims with a limit that the pod's containers can write to. Empty for static pods, since claims from manifests have no limit.
 */
export function limitedClaims(pod: Pod, claims: DirectoryClaims): UsedClaim[] {
  if (isStaticPod(pod)) return [];
  const { namespace } = pod.metadata;
  return [...writableClaims(pod)].flatMap(([volume, name]) => {
    const claim = claims.get(claimKey({ namespace, name }));
    return claim?.capacityBytes === undefined ? [] : [{ volume, claim }];
  });
}

/** Whether the usage exceeds the claim's capacity plus slack. False if there is no capacity. */
export function isOverCapacity({ capacityBytes }: DirectoryClaim, usedBytes: number): boolean {
  if (capacityBytes === undefined) return false;
  const share = capacityBytes / SLACK_DIVISOR;
  return BigInt(usedBytes) > capacityBytes + (share > MIN_SLACK_BYTES ? share : MIN_SLACK_BYTES);
}

const MIB = 1 << 20;

const binaryText = (bytes: bigint): string => formatQuantity(bytes * 1_000_000_000n, bytes >= 1024n ? 'Ki' : '');

/** Formats a measured size, rounded to MiB from 1 MiB up. */
const useText = (bytes: number): string => binaryText(BigInt(bytes < MIB ? bytes : Math.round(bytes / MIB) * MIB));

/** Returns the sentence for events and eviction messages about a claim that exceeds its capacity. Ends with a space, like upstream's. */
export function overCapacityText({ volume, claim }: UsedClaim, usedBytes: number): string {
  const [used, capacity] = [useText(usedBytes), binaryText(claim.capacityBytes ?? 0n)];
  return `Usage of the claim "${claim.name}" (volume "${volume}") is ${used}, more than its capacity ${capacity}. `;
}

/** Formats a claim with its usage and capacity, for lists of the largest claims: `shop/data (2Gi of 1Gi)`. */
export function claimUseText(claim: DirectoryClaim, usedBytes: number): string {
  const of = claim.capacityBytes === undefined ? '' : ` of ${binaryText(claim.capacityBytes)}`;
  return `${claimKey(claim)} (${useText(usedBytes)}${of})`;
}
