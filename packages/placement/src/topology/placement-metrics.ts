/** Topology, CPU and memory manager metrics, named as in upstream (pkg/kubelet/metrics). */
import { Counter, Gauge, Histogram, type Registry } from '@podwright/base';
import type { HintProvider } from './topology-hint.ts';

/** Exponential buckets starting at 0.05 ms, as in upstream. */
const ADMISSION_BUCKETS = Array.from({ length: 15 }, (_, index) => 0.05 * 2 ** index);

type Scope = 'container' | 'pod';

export type PlacementMetrics = {
  /** Counts an admission that requires aligned resources, and records its duration. */
  requested(milliseconds: number): void;
  /** Counts a failed admission. */
  failed(): void;
  /** Counts a container or pod that the policy requires to be aligned, as aligned or not. */
  aligned(scope: Scope, isAligned: boolean): void;
  /** Wraps a provider to count allocations and failed allocations where `isAsked` returns true. */
  pinning(manager: 'cpu' | 'memory', provider: HintProvider, isAsked: Asked): HintProvider;
  /** Registers gauges for the shared CPUs that can still be assigned, and for assigned CPUs by NUMA node. */
  processors(read: () => { free: number; given: Map<number, number> }): void;
};

type Asked = (request: Parameters<HintProvider['allocate']>[0]) => boolean;

export function placementMetrics(registry: Registry): PlacementMetrics {
  const counter = countersIn(registry);
  const requests = counter(
    'topology_manager_admission_requests_total',
    'The number of admission requests where resources have to be aligned.',
  );
  const errors = counter(
    'topology_manager_admission_errors_total',
    'The number of admission request failures where resources could not be aligned.',
  );
  const duration = new Histogram({
    name: 'kubelet_topology_manager_admission_duration_ms',
    help: 'Duration in milliseconds to serve a pod admission request.',
    buckets: ADMISSION_BUCKETS,
    registers: [registry],
  });
  const alignment = alignmentCounters(registry);
  const pins = pinCounters(registry);
  return {
    requested: (milliseconds) => {
      requests.inc();
      duration.observe(milliseconds);
    },
    failed: () => errors.inc(),
    aligned: (scope, isAligned) => alignment[isAligned ? 'done' : 'failed'].inc({ scope, boundary: 'numa_node' }),
    pinning: (manager, provider, isAsked) => ({
      containerHints: (pod, container) => provider.containerHints(pod, container),
      podHints: (pod) => provider.podHints(pod),
      release: (podUid) => provider.release(podUid),
      allocate: async (request, signal) => {
        if (!isAsked(request)) return provider.allocate(request, signal);
        pins[manager].requests.inc();
        try {
          await provider.allocate(request, signal);
        } catch (error) {
          pins[manager].errors.inc();
          throw error;
        }
      },
    }),
    processors: (read) => processorGauges(registry, read),
  };
}

function countersIn(registry: Registry) {
  return <L extends string = never>(name: string, help: string, ...labelNames: L[]) =>
    new Counter<L>({ name: `kubelet_${name}`, help, labelNames, registers: [registry] });
}

function alignmentCounters(registry: Registry) {
  const counter = countersIn(registry);
  const labels = ['scope', 'boundary'] as const;
  const done = counter(
    'container_aligned_compute_resources_count',
    'Cumulative number of aligned compute resources allocated to containers by alignment type.',
    ...labels,
  );
  const failed = counter(
    'container_aligned_compute_resources_failure_count',
    'Cumulative number of failures to allocate aligned compute resources to containers by alignment type.',
    ...labels,
  );
  for (const scope of ['container', 'pod'])
    for (const one of [done, failed]) one.inc({ scope, boundary: 'numa_node' }, 0);
  return { done, failed };
}

function pinCounters(registry: Registry) {
  const counter = countersIn(registry);
  return {
    cpu: {
      requests: counter(
        'cpu_manager_pinning_requests_total',
        'The number of cpu core allocations which required pinning.',
      ),
      errors: counter(
        'cpu_manager_pinning_errors_total',
        'The number of cpu core allocations which required pinning failed.',
      ),
    },
    memory: {
      requests: counter(
        'memory_manager_pinning_requests_total',
        'The number of memory pages allocations which required pinning.',
      ),
      errors: counter(
        'memory_manager_pinning_errors_total',
        'The number of memory pages allocations which required pinning that failed.',
      ),
    },
  };
}

function processorGauges(registry: Registry, read: () => { free: number; given: Map<number, number> }): void {
  const registers = [registry];
  const free: Gauge = new Gauge({
    name: 'kubelet_cpu_manager_shared_pool_size_millicores',
    help: 'The size of the shared CPU pool for non-guaranteed QoS pods, in millicores.',
    registers,
    collect: () => free.set(read().free * 1000),
  });
  const given: Gauge = new Gauge({
    name: 'kubelet_cpu_manager_exclusive_cpu_allocation_count',
    help: 'The total number of CPUs exclusively allocated to containers running on this node',
    registers,
    collect: () => given.set([...read().given.values()].reduce((sum, count) => sum + count, 0)),
  });
  const perNode: Gauge<'numa_node'> = new Gauge<'numa_node'>({
    name: 'kubelet_cpu_manager_allocation_per_numa',
    help: 'Number of CPUs allocated per NUMA node',
    labelNames: ['numa_node'],
    registers,
    collect: () => {
      for (const [node, count] of read().given) perNode.set({ numa_node: String(node) }, count);
    },
  });
}
