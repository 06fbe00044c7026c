import { isRecord } from '@podwright/base';

/** A node's usage at a point in time. Fields that the node does not report are 0. The fields are described in README.md. */
export type UsageSample = {
  /** When the sample was taken, in Unix milliseconds. */
  time: number;
  cpuNanoCores: number;
  memoryWorkingSetBytes: number;
  rootfs: { usedBytes: number; capacityBytes: number; inodesUsed: number; inodes: number };
  images: { usedBytes: number; capacityBytes: number };
  /** Network traffic counters since the node was booted. */
  network: { receivedBytes: number; sentBytes: number };
  pods: number;
};

/** Extracts a node's usage from the kubelet's summary (`/stats/summary`, stats/v1alpha1). `time`: in Unix milliseconds. */
export function sampleOf(summary: Record<string, unknown>, time: number): UsageSample {
  const node = fieldsOf(summary.node);
  const rootfs = fieldsOf(node.fs);
  const images = fieldsOf(fieldsOf(node.runtime).imageFs);
  const network = fieldsOf(node.network);
  return {
    time,
    cpuNanoCores: numberOf(fieldsOf(node.cpu).usageNanoCores),
    memoryWorkingSetBytes: numberOf(fieldsOf(node.memory).workingSetBytes),
    rootfs: {
      usedBytes: numberOf(rootfs.usedBytes),
      capacityBytes: numberOf(rootfs.capacityBytes),
      inodesUsed: numberOf(rootfs.inodesUsed),
      inodes: numberOf(rootfs.inodes),
    },
    images: { usedBytes: numberOf(images.usedBytes), capacityBytes: numberOf(images.capacityBytes) },
    network: { receivedBytes: numberOf(network.rxBytes), sentBytes: numberOf(network.txBytes) },
    pods: Array.isArray(summary.pods) ? summary.pods.length : 0,
  };
}

const fieldsOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
