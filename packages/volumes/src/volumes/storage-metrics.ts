/** Metrics for volume operations, named as in upstream (pkg/volume/util). */
import { Histogram, type Registry } from '@podwright/base';
import { VolumeFailure } from './volume-failure.ts';

const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

export type StorageOperation = {
  /** Plugin name. For CSI, it includes the driver's name after a colon, as in `kubernetes.io/csi:disk.example.com`. */
  plugin: string;
  /** Operation name, such as `volume_mount` or `unmap_device`. */
  name: string;
};

/** Metrics for the duration of volume operations, with one instance per kubelet. */
export class StorageMetrics {
  readonly #operations;
  readonly #total;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#operations = new Histogram({
      name: 'storage_operation_duration_seconds',
      help: 'Storage operation duration',
      labelNames: ['volume_plugin', 'operation_name', 'status', 'migrated'],
      buckets: BUCKETS,
      registers,
    });
    this.#total = new Histogram({
      name: 'volume_operation_total_seconds',
      help: 'Storage operation end to end duration in seconds',
      labelNames: ['plugin_name', 'operation_name'],
      buckets: BUCKETS,
      registers,
    });
  }

  ended({ plugin, name }: StorageOperation, { seconds, failed }: { seconds: number; failed: boolean }): void {
    const status = failed ? 'fail-unknown' : 'success';
    this.#operations.observe({ volume_plugin: plugin, operation_name: name, status, migrated: 'false' }, seconds);
  }

  /** Records that a volume has become usable, `seconds` after a pod first needed it. */
  mounted(plugin: string, seconds: number): void {
    this.#total.observe({ plugin_name: plugin, operation_name: 'overall_volume_mount' }, seconds);
  }
}

/** Runs the work and records its duration, if there are metrics. */
export async function timed<T>(
  metrics: StorageMetrics | undefined,
  operation: StorageOperation,
  work: () => Promise<T>,
): Promise<T> {
  const startedAtMs = performance.now();
  const end = (failed: boolean) =>
    metrics?.ended(operation, { seconds: (performance.now() - startedAtMs) / 1000, failed });
  try {
    const result = await work();
    end(false);
    return result;
  } catch (error) {
    if (!(error instanceof VolumeFailure && error.isUntried)) end(true);
    throw error;
  }
}
