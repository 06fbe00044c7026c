import type { FsStats, VolumeStats } from '../stats/summary.ts';
import type { SummaryProvider } from '../stats/summary-provider.ts';
import type { MetricFamily } from './exposition.ts';

const GAUGES: [name: string, value: keyof Omit<FsStats, 'time'>, help: string][] = [
  ['capacity_bytes', 'capacityBytes', 'Capacity in bytes of the volume'],
  ['available_bytes', 'availableBytes', 'Number of available bytes in the volume'],
  ['used_bytes', 'usedBytes', 'Number of used bytes in the volume'],
  ['inodes', 'inodes', 'Maximum number of inodes in the volume'],
  ['inodes_free', 'inodesFree', 'Number of free inodes in the volume'],
  ['inodes_used', 'inodesUsed', 'Number of used inodes in the volume'],
];

/** Returns the `kubelet_volume_stats_*` metrics, with one sample per PVC (upstream's collectors/volume_stats.go). Pure. */
export function volumeMetrics(volumes: VolumeStats[]): MetricFamily[] {
  const byClaim = new Map<string, { labels: Record<string, string>; stats: VolumeStats }>();
  for (const stats of volumes) {
    if (stats.pvcRef === undefined) continue;
    const { namespace, name } = stats.pvcRef;
    const key = `${namespace}/${name}`;
    if (!byClaim.has(key)) byClaim.set(key, { labels: { namespace, persistentvolumeclaim: name }, stats });
  }
  return GAUGES.map(([name, of, help]) => ({
    name: `kubelet_volume_stats_${name}`,
    help,
    type: 'gauge',
    samples: [...byClaim.values()].flatMap(({ labels, stats }) => {
      const value = stats[of];
      return value === undefined ? [] : [{ labels, value }];
    }),
  }));
}

/** Returns the disk usage metrics of container logs (upstream's collectors/log_metrics.go). Pure. */
export function logMetrics(logs: Awaited<ReturnType<SummaryProvider['containerLogs']>>): MetricFamily {
  return {
    name: 'kubelet_container_log_filesystem_used_bytes',
    help: "Bytes used by the container's logs on the filesystem.",
    type: 'gauge',
    samples: logs.map(({ pod: { uid, namespace, name }, container, bytes }) => ({
      labels: { uid, namespace, pod: name, container },
      value: bytes,
    })),
  };
}
