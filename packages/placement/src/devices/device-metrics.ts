/** Device plugin metrics, named as in upstream. */
import { Counter, Histogram, type Registry } from '@podwright/base';

export type DeviceMetrics = {
  registered(resource: string): void;
  /** Must be called after a plugin responds to Allocate. */
  allocated(resource: string, seconds: number): void;
};

export function deviceMetrics(registry: Registry): DeviceMetrics {
  const registers = [registry];
  const registrations = new Counter({
    name: 'kubelet_device_plugin_registration_total',
    help: 'Cumulative number of device plugin registrations. Broken down by resource name.',
    labelNames: ['resource_name'],
    registers,
  });
  const seconds = new Histogram({
    name: 'kubelet_device_plugin_alloc_duration_seconds',
    help: 'Duration in seconds to serve a device plugin Allocation request. Broken down by resource name.',
    labelNames: ['resource_name'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  return {
    registered: (resource) => registrations.inc({ resource_name: resource }),
    allocated: (resource, duration) => seconds.observe({ resource_name: resource }, duration),
  };
}
