/** An image, with the facts that determine whether it can be removed. */
export type ImageRecord = { id: string; sizeBytes: bigint; pinned: boolean; firstSeenMs: number; lastUsedMs: number };

export type DiskUsage = { capacityBytes: bigint; availableBytes: bigint };

export type ImageGcPolicy = {
  highThresholdPercent: number;
  lowThresholdPercent: number;
  minAgeMs: number;
  /** Unused images older than this are removed; 0 for no maximum. */
  maxAgeMs: number;
};

/** Returns the number of bytes to free to bring disk usage down to the low threshold; 0 while usage is below the high threshold. */
export function bytesToFree(
  { capacityBytes, availableBytes }: DiskUsage,
  policy: Omit<ImageGcPolicy, 'maxAgeMs'>,
): bigint {
  if (capacityBytes === 0n) return 0n;
  const usedPercent = 100 - Number((availableBytes * 100n) / capacityBytes);
  if (usedPercent < policy.highThresholdPercent) return 0n;
  const wanted = (capacityBytes * BigInt(100 - policy.lowThresholdPercent)) / 100n;
  return wanted > availableBytes ? wanted - availableBytes : 0n;
}

/**
 * Selects images to remove in order to free `bytes`, least recently used first. Skips pinned images, images in use, and images younger than
 * the minimum age. Pure.
 */
export function imagesToRemove(
  images: ImageRecord[],
  bytes: bigint,
  { inUse, minAgeMs, nowMs }: { inUse: ReadonlySet<string>; minAgeMs: number; nowMs: number },
): string[] {
  let freed = 0n;
  const chosen: string[] = [];
  const candidates = images
    .filter(({ id, pinned, firstSeenMs }) => !pinned && !inUse.has(id) && nowMs - firstSeenMs >= minAgeMs)
    .toSorted((a, b) => a.lastUsedMs - b.lastUsedMs || a.firstSeenMs - b.firstSeenMs);
  for (const { id, sizeBytes } of candidates) {
    if (freed >= bytes) break;
    freed += sizeBytes;
    chosen.push(id);
  }
  return chosen;
}

/** Selects images last pulled or used longer ago than the maximum age, except pinned images and images in use. Pure. */
export function imagesTooOld(
  images: ImageRecord[],
  { inUse, maxAgeMs, nowMs }: { inUse: ReadonlySet<string>; maxAgeMs: number; nowMs: number },
): string[] {
  if (maxAgeMs <= 0) return [];
  const isOld = ({ id, pinned, lastUsedMs, firstSeenMs }: ImageRecord) =>
    !pinned && !inUse.has(id) && nowMs - Math.max(lastUsedMs, firstSeenMs) > maxAgeMs;
  return images.filter(isOld).map(({ id }) => id);
}

/** Returns upstream's error message for an image garbage collection that did not free enough disk space. */
export function tooLittleFreed({ capacityBytes, availableBytes }: DiskUsage, freed: bigint): string {
  const usedPercent = 100 - Number((availableBytes * 100n) / capacityBytes);
  return (
    `Insufficient free disk space on the node's image filesystem (${usedPercent}% of ${sizeText(capacityBytes)} used). ` +
    `Failed to free sufficient space by deleting unused images (freed ${freed} bytes). ` +
    'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.'
  );
}

function sizeText(bytes: bigint): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, Number(bytes))) / 10));
  return `${power === 0 ? bytes : (Number(bytes) / 1024 ** power).toFixed(1)} ${units[power]}`;
}
