import type { Pod } from '../api/types.ts';
import type { FsStats, PodStats } from '../stats/summary.ts';
import { isEphemeral } from '../stats/volume-use.ts';

/** Parts of what a pod has on disk: what its containers write, their logs, and its local volumes. */
export type DiskPart = 'root' | 'logs' | 'volumes';

export type DiskUse = { bytes: bigint; inodes: bigint };

/** What of these parts a pod uses; what was not measured counts nothing. Pure. */
export function podDiskUse(pod: Pod, stats: PodStats, parts: readonly DiskPart[]): DiskUse {
  const local = new Set((pod.spec.volumes ?? []).filter(isEphemeral).map(({ name }) => name));
  const measured: (FsStats | undefined)[] = [
    ...(parts.includes('root') ? stats.containers.map(({ rootfs }) => rootfs) : []),
    ...(parts.includes('logs') ? stats.containers.map(({ logs }) => logs) : []),
    ...(parts.includes('volumes') ? (stats.volume ?? []).filter(({ name }) => local.has(name)) : []),
  ];
  const sum = (of: 'usedBytes' | 'inodesUsed') => measured.reduce((total, one) => total + BigInt(one?.[of] ?? 0), 0n);
  return { bytes: sum('usedBytes'), inodes: sum('inodesUsed') };
}
