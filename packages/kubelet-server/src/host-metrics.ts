import { availableParallelism, release } from 'node:os';
import { VERSION } from '@podwright/base';
import { type HostUse, type MetricFamily, osImage, type PsiStats } from '@podwright/kubelet';

/** Labels of the host's series: those of cAdvisor's root container. */
const ROOT = { container: '', id: '/', image: '', name: '', namespace: '', pod: '' };

const MICROSECONDS = 1e6;

/** Returns facts about the host, under cAdvisor's metric names. */
export function machineMetrics(memoryBytes: number): MetricFamily[] {
  const labels = {
    kernelVersion: release(),
    osVersion: osImage(),
    cadvisorVersion: '',
    cadvisorRevision: '',
    dockerVersion: '',
  };
  const one = (name: string, help: string, value: number): MetricFamily => ({
    name,
    help,
    type: 'gauge',
    samples: [{ value }],
  });
  return [
    {
      name: 'cadvisor_version_info',
      help: `A metric with a constant '1' value labeled by kernel version and OS version, of Podwright ${VERSION}.`,
      type: 'gauge',
      samples: [{ labels, value: 1 }],
    },
    one('machine_cpu_cores', 'Number of logical CPU cores.', availableParallelism()),
    one('machine_memory_bytes', 'Amount of memory installed on the machine.', memoryBytes),
  ];
}

/**
 * Returns the host's series for `/metrics/cadvisor`, under the names and labels of cAdvisor's root container. Unknown values are omitted.
 * Pure.
 */
export function hostMetrics({ cpu, memory, io, fs }: HostUse): MetricFamily[] {
  const { usageCoreNanoSeconds: nanoseconds } = cpu ?? {};
  return [
    {
      ...counter('container_cpu_usage_seconds_total', 'Seconds of CPU time used', undefined),
      samples: samplesOf(nanoseconds && nanoseconds / 1e9, { cpu: 'total' }),
    },
    gauge('container_memory_usage_bytes', 'Bytes of memory in use, file cache included', memory?.usageBytes),
    gauge(
      'container_memory_working_set_bytes',
      'Bytes of memory in use, less the file cache that can be reclaimed at once',
      memory?.workingSetBytes,
    ),
    gauge('container_memory_rss', 'Bytes of anonymous memory', memory?.rssBytes),
    gauge('container_fs_usage_bytes', 'Bytes used', fs.usedBytes),
    gauge('container_fs_limit_bytes', 'Size of the file system', fs.capacityBytes),
    gauge('container_fs_inodes_free', 'Free inodes of the file system', fs.inodesFree),
    gauge('container_fs_inodes_total', 'Inodes of the file system', fs.inodes),
    ...pressureMetrics('cpu', 'a CPU', cpu?.psi),
    ...pressureMetrics('memory', 'memory', memory?.psi),
    ...pressureMetrics('io', 'input or output', io?.psi),
  ].filter(({ samples }) => samples.length > 0);
}

/** Merges metric families of the same name, because each name must occur only once on a metrics page. Pure. */
export function joinFamilies(families: MetricFamily[]): MetricFamily[] {
  return [...Map.groupBy(families, ({ name }) => name).values()].map((same) => ({
    ...same[0]!,
    samples: same.flatMap(({ samples }) => samples),
  }));
}

function pressureMetrics(resource: 'cpu' | 'memory' | 'io', what: string, psi: PsiStats | undefined): MetricFamily[] {
  const seconds = (kind: keyof PsiStats) => psi && psi[kind].total / MICROSECONDS;
  const prefix = `container_pressure_${resource}`;
  return [
    counter(`${prefix}_waiting_seconds_total`, `Seconds in which some task waited for ${what}`, seconds('some')),
    counter(`${prefix}_stalled_seconds_total`, `Seconds in which every task waited for ${what}`, seconds('full')),
  ];
}

type Value = number | undefined;

const gauge = (name: string, help: string, value: Value): MetricFamily => ({
  ...{ name, help, type: 'gauge' },
  samples: samplesOf(value),
});

const counter = (name: string, help: string, value: Value): MetricFamily => ({
  ...{ name, help, type: 'counter' },
  samples: samplesOf(value),
});

const samplesOf = (value: Value, labels: Record<string, string> = {}) =>
  value === undefined ? [] : [{ labels: { ...ROOT, ...labels }, value }];
