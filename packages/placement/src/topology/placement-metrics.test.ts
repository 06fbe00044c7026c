import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { placementMetrics } from './placement-metrics.ts';
import { ResourceAdmission, type TopologySettings } from './resource-admission.ts';
import type { HintProvider, TopologyHint } from './topology-hint.ts';

const SINGLE: TopologySettings = {
  policy: 'single-numa-node',
  scope: 'container',
  preferClosest: false,
  numa: { nodes: [0, 1], distances: new Map() },
};
const pod = (uid: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: uid, namespace: 'd', uid },
  spec: { containers: ['a', 'b'].map((name) => ({ name, image: 'i' })) },
});

test('admissions, pinned allocations and alignment have the same metrics as upstream', async () => {
  const registry = new Registry();
  const metrics = placementMetrics(registry);
  metrics.processors(() => ({
    free: 6,
    given: new Map([
      [0, 2],
      [1, 0],
    ]),
  }));
  const given: { hints: TopologyHint[]; error?: Error } = { hints: [{ nodes: 1n, preferred: true }] };
  const provider: HintProvider = {
    containerHints: () => ({ cpu: given.hints }),
    podHints: () => ({}),
    allocate: async () => {
      if (given.error !== undefined) throw given.error;
    },
    release: async () => undefined,
  };
  const counted = metrics.pinning('cpu', provider, ({ container }) => container.name === 'a');
  const admission = new ResourceAdmission([counted], SINGLE, metrics);
  const signal = AbortSignal.timeout(5000);
  assert.equal(await admission.admit(pod('good'), signal), undefined);
  given.error = new Error('no');
  assert.equal((await admission.admit(pod('failing'), signal))?.reason, 'UnexpectedAdmissionError');
  given.hints = [];
  assert.equal((await admission.admit(pod('apart'), signal))?.reason, 'TopologyAffinityError');
  const text = await registry.metrics();
  const value = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`kubelet_${name} `))
        ?.split(' ')[1],
    );
  assert.deepEqual(
    [
      'topology_manager_admission_requests_total',
      'topology_manager_admission_errors_total',
      'topology_manager_admission_duration_ms_count',
      'cpu_manager_pinning_requests_total',
      'cpu_manager_pinning_errors_total',
      'memory_manager_pinning_requests_total',
      'cpu_manager_shared_pool_size_millicores',
      'cpu_manager_exclusive_cpu_allocation_count',
      'cpu_manager_allocation_per_numa{numa_node="0"}',
      'container_aligned_compute_resources_count{scope="container",boundary="numa_node"}',
      'container_aligned_compute_resources_failure_count{scope="container",boundary="numa_node"}',
    ].map(value),
    [3, 2, 3, 2, 1, 0, 6000, 2, 2, 2, 1],
  );
});
