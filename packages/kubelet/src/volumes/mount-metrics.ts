/** Metrics of volumes, by upstream's names (pkg/volume/util, pkg/kubelet/volumemanager). */
import { Gauge, Histogram, type Registry } from '@podwright/base';

/** How many volumes of each plugin are there, and should be, by the plugin's name. */
export type VolumeCounts = { actual: string[]; desired: string[] };

export type MountMetrics = {
  /** A volume of the plugin was made, or could not be. */
  mounted(plugin: string, seconds: number, failed: boolean): void;
};

/** Counts the volumes when somebody asks. */
export function mountMetrics(registry: Registry, counts: () => VolumeCounts): MountMetrics {
  const registers = [registry];
  const operations = new Histogram({
    name: 'storage_operation_duration_seconds',
    help: 'Storage operation duration',
    labelNames: ['volume_plugin', 'operation_name', 'status', 'migrated'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
    registers,
  });
  const total: Gauge<'plugin_name' | 'state'> = new Gauge({
    name: 'volume_manager_total_volumes',
    help: 'Number of volumes in Volume Manager',
    labelNames: ['plugin_name', 'state'],
    registers,
    collect() {
      const { actual, desired } = counts();
      total.reset();
      for (const plugin_name of actual) total.inc({ plugin_name, state: 'actual_state_of_world' });
      for (const plugin_name of desired) total.inc({ plugin_name, state: 'desired_state_of_world' });
    },
  });
  return {
    mounted(plugin, seconds, failed) {
      const status = failed ? 'fail-unknown' : 'success';
      operations.observe({ volume_plugin: plugin, operation_name: 'volume_mount', status, migrated: 'false' }, seconds);
    },
  };
}
