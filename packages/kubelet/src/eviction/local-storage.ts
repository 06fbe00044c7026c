/** Finds pods that exceed their local storage limits: upstream's localStorageEviction. */
import { type FileUse, remoteTreeUse, treeUse } from '@podwright/host';
import {
  containersAmount,
  formatQuantity,
  type Pod,
  parseQuantity,
  quantityValue,
  type Volume,
} from '@podwright/kube-api';
import type { DiskLayout } from '@podwright/kubelet-configuration';
import type { PodStats } from '../stats/summary.ts';
import { isLocal } from '../stats/volume-use.ts';

const STORAGE = 'ephemeral-storage';

/** How a pod exceeds a local storage limit. `signal`: the label value for the eviction metric. */
export type LocalStorageExcess = { signal: string; message: string };

/**
 * A pod's volumes. `paths`: their paths by volume name. `held`: finds deleted files that the pod still holds open, and returns their usage
 * by emptyDir name.
 */
export type VolumeFiles = { paths: ReadonlyMap<string, string>; held: () => Promise<ReadonlyMap<string, FileUse>> };

/** `excess`: the pod's first emptyDir that exceeds its limit. `changedAtMs`: when a file in an emptyDir last changed (wall-clock time). */
export type EmptyDirFinding = { excess?: LocalStorageExcess; isPartial: boolean; changedAtMs?: number };

/**
 * Finds the pod's first emptyDir that exceeds its `sizeLimit`. Spends at most `timeoutMs` on each emptyDir; the result is partial if some
 * could not be counted completely. Skips memory-backed emptyDirs, because tmpfs enforces their limit. Rejects with `internal` if an
 * emptyDir cannot be measured.
 */
export async function emptyDirExcess(
  pod: Pod,
  { paths, held }: VolumeFiles,
  { signal = new AbortController().signal, timeoutMs }: { signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<EmptyDirFinding> {
  const { spec } = pod;
  let isPartial = false;
  let changedAtMs: number | undefined = 0;
  let heldUses: ReadonlyMap<string, FileUse> | undefined;
  for (const volume of spec.volumes ?? []) {
    const limit = diskLimit(volume);
    const path = paths.get(volume.name);
    if (limit === undefined || path === undefined) continue;
    const use = await (isLocal(pod, volume) ? treeUse(path, { signal, timeoutMs }) : remoteTreeUse(path, signal));
    let { bytes } = use;
    isPartial ||= use.isPartial;
    if (use.changedAtMs === undefined) changedAtMs = undefined;
    else if (changedAtMs !== undefined) changedAtMs = Math.max(changedAtMs, use.changedAtMs);
    if (BigInt(bytes) <= quantityValue(limit)) {
      heldUses ??= await held(); // reads every file descriptor of the pod
      bytes += heldUses.get(volume.name)?.bytes ?? 0;
    }
    if (BigInt(bytes) <= quantityValue(limit)) continue;
    return { excess: emptyDirExcessOf(volume.name, limit), isPartial, changedAtMs };
  }
  return { isPartial, changedAtMs };
}

/** Returns the pod's first emptyDir whose known usage exceeds its `sizeLimit`. Pure. */
export function emptyDirOverLimit(
  { spec }: Pod,
  bytesOf: (volume: string) => number | undefined,
): LocalStorageExcess | undefined {
  for (const volume of spec.volumes ?? []) {
    const limit = diskLimit(volume);
    if (limit !== undefined && BigInt(bytesOf(volume.name) ?? 0) > quantityValue(limit))
      return emptyDirExcessOf(volume.name, limit);
  }
  return undefined;
}

function emptyDirExcessOf(name: string, limit: string): LocalStorageExcess {
  const message = `Usage of EmptyDir volume "${name}" exceeds the limit "${canonical(limit)}". `;
  return { signal: 'emptydirfs.limit', message };
}

/** Whether the pod has an emptyDir that `emptyDirExcess` must measure. */
export function hasSizeLimit({ spec }: Pod): boolean {
  return (spec.volumes ?? []).some((volume) => diskLimit(volume) !== undefined);
}

/** Returns the `sizeLimit` of a disk-backed emptyDir; otherwise `undefined`. Zero means no limit, as in the API. */
function diskLimit({ emptyDir }: Volume): string | undefined {
  const { medium, sizeLimit } = emptyDir ?? {};
  return medium === 'Memory' || sizeLimit === undefined || quantityValue(sizeLimit) <= 0n ? undefined : sizeLimit;
}

/** Whether any of the pod's containers has an ephemeral-storage limit. */
export function hasStorageLimit({ spec }: Pod): boolean {
  return [...spec.containers, ...(spec.initContainers ?? [])].some(
    ({ resources }) => resources?.limits?.[STORAGE] !== undefined,
  );
}

/** Returns the local storage limit that the pod exceeds: the sum of its containers' limits, or a single container's limit. Pure. */
export function storageExcess(pod: Pod, stats: PodStats, layout: DiskLayout): LocalStorageExcess | undefined {
  if (!hasStorageLimit(pod)) return undefined;
  const limit = podLimit(pod);
  if (BigInt(stats[STORAGE]?.usedBytes ?? 0) * 1_000_000_000n > limit.nanos) {
    const message = `Pod ephemeral local storage usage exceeds the total limit of containers ${limit.text}. `;
    return { signal: 'ephemeralpodfs.limit', message };
  }
  for (const { name, resources } of pod.spec.containers) {
    const text = resources?.limits?.[STORAGE] ?? '0';
    const own = stats.containers.find((one) => one.name === name);
    const used = (own?.logs?.usedBytes ?? 0) + (layout === 'shared' ? (own?.rootfs?.usedBytes ?? 0) : 0);
    const { nanos } = parseQuantity(text);
    if (nanos === 0n || BigInt(used) * 1_000_000_000n <= nanos) continue;
    const message = `Container ${name} exceeded its local ephemeral storage limit "${canonical(text)}". `;
    return { signal: 'ephemeralcontainerfs.limit', message };
  }
  return undefined;
}

/** Returns the sum of the containers' ephemeral-storage limits plus the pod's overhead. */
function podLimit({ spec }: Pod): { nanos: bigint; text: string } {
  const sum = containersAmount(spec, 'limits', STORAGE);
  const overhead = spec.overhead?.[STORAGE];
  const nanos = sum === 0n || overhead === undefined ? sum : sum + parseQuantity(overhead).nanos;
  const all = [...spec.containers, ...(spec.initContainers ?? [])].map(({ resources }) => resources?.limits?.[STORAGE]);
  return { nanos, text: formatQuantity(nanos, all.find((one) => one !== undefined) ?? '') };
}

const canonical = (text: string) => formatQuantity(parseQuantity(text).nanos, text);
