/** An image with what its removal is decided by. */
export type ImageRecord = { id: string; sizeBytes: bigint; pinned: boolean; firstSeenMs: number; lastUsedMs: number };

export type DiskUsage = { capacityBytes: bigint; availableBytes: bigint };

export type ImageGcPolicy = {
  highThresholdPercent: number;
  lowThresholdPercent: number;
  minAgeMs: number;
  /** 0 for none. */
  maxAgeMs: number;
};

/** How much must be freed to come down to the low threshold; 0 while use is below the high one. */
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
 * Images to remove so that `bytes` are freed: those used longest ago first, never pinned ones, ones in use, or ones that have been
 * there for less than the least age. Pure.
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

/** Images that were not used for the greatest age, and have been there as long: never pinned ones, or ones in use. Pure. */
export function imagesTooOld(
  images: ImageRecord[],
  { inUse, maxAgeMs, nowMs }: { inUse: ReadonlySet<string>; maxAgeMs: number; nowMs: number },
): string[] {
  if (maxAgeMs <= 0) return [];
  const isOld = ({ id, pinned, lastUsedMs, firstSeenMs }: ImageRecord) =>
    !pinned && !inUse.has(id) && nowMs - Math.max(lastUsedMs, firstSeenMs) > maxAgeMs;
  return images.filter(isOld).map(({ id }) => id);
}
