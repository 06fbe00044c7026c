import type { Pod, ResourceRequirements } from '@podwright/kube-api';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import { StatsTime } from '../stats/summary.ts';

export type GivenPod = {
  priority?: number;
  requests?: Record<string, string>;
  limits?: Record<string, string>;
  spec?: Partial<Pod['spec']>;
  source?: 'api' | 'file';
};

/** Returns a pod from an API server, with one container `main`. */
export function podOf(name: string, { priority, requests, limits, spec, source = 'api' }: GivenPod = {}): Pod {
  const resources: ResourceRequirements = { requests: requests ?? {}, limits: limits ?? {} };
  const annotations = { 'kubernetes.io/config.source': source };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: name, annotations },
    spec: { priority, containers: [{ name: 'main', image: 'i', resources }], ...spec },
  };
}

const MI = 1 << 20;
export type GivenUse = {
  memory?: number;
  root?: number;
  logs?: number;
  volume?: number;
  claims?: number;
  inodes?: number;
  processes?: number;
  isPartial?: boolean;
  changes?: PodStatsByDisk['changes'];
  changedAtMs?: number;
};

/** Returns stats of a pod created by `podOf`; `use` is in MiB for bytes, otherwise in counts. */
export function statsOf(name: string, use: GivenUse = {}): PodStatsByDisk {
  const time = new StatsTime('2026-01-01T00:00:00Z');
  const memory = { time, workingSetBytes: (use.memory ?? 0) * MI };
  const disk = (mebibytes = 0, inodesUsed = 0) => ({ time, usedBytes: mebibytes * MI, inodesUsed });
  return {
    podRef: { name, namespace: 'default', uid: name },
    startTime: time,
    containers: [{ name: 'main', startTime: time, memory, rootfs: disk(use.root, use.inodes), logs: disk(use.logs) }],
    memory,
    disks: {
      layers: { bytes: (use.root ?? 0) * MI, inodes: use.inodes ?? 0 },
      kubelet: { bytes: ((use.logs ?? 0) + (use.volume ?? 0)) * MI, inodes: 0 },
      claims: { bytes: (use.claims ?? 0) * MI, inodes: 0 },
    },
    'ephemeral-storage': disk((use.root ?? 0) + (use.logs ?? 0) + (use.volume ?? 0)),
    isPartial: use.isPartial,
    changes: use.changes,
    changedAtMs: use.changedAtMs,
    process_stats: { process_count: use.processes ?? 0 },
  };
}
