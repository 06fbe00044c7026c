import { readdirSync, readFileSync } from 'node:fs';
import { Counter, Gauge, type Registry } from './metrics.ts';

const CPU_SECONDS = 'process_cpu_seconds_total';
const STARTED_AT_SECONDS = performance.timeOrigin / 1000;

/** Registers the process metrics that Prometheus client libraries provide. Metrics already in the registry are left alone. */
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
  gauge('process_max_fds', 'Maximum number of open file descriptors.', () => limitOf('Max open files'));
  gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', () => {
    return Number(/^VmSize:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
  });
  gauge('process_virtual_memory_max_bytes', 'Maximum amount of virtual memory available in bytes.', () =>
    limitOf('Max address space'),
  );
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

/** Returns a soft limit of this process (proc_pid_limits(5)); 2^64 for `unlimited`, as in the Prometheus client libraries. */
function limitOf(name: string): number {
  const [, limit] = new RegExp(`^${name} +(\\S+)`, 'm').exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return limit === 'unlimited' ? 2 ** 64 : Number(limit);
}
