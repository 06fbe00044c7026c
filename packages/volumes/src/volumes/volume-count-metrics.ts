/** Metrics for the number of volumes, named as in upstream (pkg/kubelet/volumemanager). */
import { Gauge, type Registry } from '@podwright/base';

/** Plugin names of the mounted (`actual`) and required (`desired`) volumes, one entry per volume. */
export type VolumeCounts = { actual: string[]; desired: string[] };

/** Registers metrics that count the volumes on each scrape. */
export function volumeCountMetrics(registry: Registry, counts: () => VolumeCounts): void {
  const total: Gauge<'plugin_name' | 'state'> = new Gauge({
    name: 'volume_manager_total_volumes',
    help: 'Number of volumes in Volume Manager',
    labelNames: ['plugin_name', 'state'],
    registers: [registry],
    collect() {
      const { actual, desired } = counts();
      total.reset();
      for (const plugin_name of actual) total.inc({ plugin_name, state: 'actual_state_of_world' });
      for (const plugin_name of desired) total.inc({ plugin_name, state: 'desired_state_of_world' });
    },
  });
}
