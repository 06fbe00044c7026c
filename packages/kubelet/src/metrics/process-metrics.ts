import { readdirSync } from 'node:fs';
import { Counter, Gauge, type Registry } from '@podwright/base';

const CPU_SECONDS = 'process_cpu_seconds_total';
const STARTED_AT_SECONDS = performance.timeOrigin / 1000;

/** What client libraries tell of their own process. Registries that have it already keep it. */
export function processMetrics(registry: Registry): void {
  const gauge = (name: string, help: string, read: () => number) => {
    if (registry.getSingleMetric(name) !== undefined) return;
    const own: Gauge = new Gauge({ name, help, registers: [registry], collect: () => own.set(read()) });
  };
  gauge(
    'process_start_time_seconds',
    'Start time of the process since unix epoch in seconds.',
    () => STARTED_AT_SECONDS,
  );
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss());
  gauge('process_open_fds', 'Number of open file descriptors.', () => readdirSync('/proc/self/fd').length);
  if (registry.getSingleMetric(CPU_SECONDS) !== undefined) return;
  const cpu: Counter = new Counter({
    name: CPU_SECONDS,
    help: 'Total user and system CPU time spent in seconds.',
    registers: [registry],
    collect: () => {
      const { user, system } = process.cpuUsage();
      cpu.reset();
      cpu.inc((user + system) / 1e6);
    },
  });
}
