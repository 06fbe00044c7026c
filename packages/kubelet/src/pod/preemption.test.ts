import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, ResourceRequirements } from '@podwright/kube-api';
import type { Shortage } from './pod-admission.ts';
import { makeRoom } from './preemption.ts';

type Given = { cpu?: string; priority?: number; limited?: boolean };

function podOf(name: string, { cpu, priority, limited }: Given = {}): Pod {
  const amounts: Record<string, string> = cpu === undefined ? {} : { cpu, ...(limited && { memory: '1Mi' }) };
  const resources: ResourceRequirements = { requests: amounts, ...(limited && { limits: amounts }) };
  const metadata = { name, namespace: 'default', uid: name };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { priority, containers: [{ name: 'a', image: 'i', resources }] },
  };
}

const critical = podOf('vital', { priority: 2_000_000_000 });
const cpuShort = (amount: bigint) => [{ resource: 'cpu', requested: amount, used: 0n, capacity: 0n }];
const podShort = [{ resource: 'pods', requested: 1n, used: 3n, capacity: 3n }];

/** Checks which pods are preempted; `undefined`: preemption frees too little, so the pod is refused. */
function check(pod: Pod, others: Pod[], shortages: Shortage[], expected: string[] | undefined): void {
  const { preempt, refusal } = makeRoom(pod, others, { reason: 'OutOf', message: '', shortages });
  assert.deepEqual(
    preempt?.map(({ metadata }) => metadata.name),
    expected,
  );
  assert.equal(refusal === undefined, expected !== undefined);
}

const fromApi = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.source': 'api' } },
});

test('critical pods preempt non-critical ones, and higher-priority pods preempt lower-priority ones', () => {
  check(critical, [podOf('a')], podShort, ['a']);
  check(critical, [podOf('a', { priority: 2_000_001_000 })], podShort, undefined);
  check(podOf('b'), [podOf('a')], podShort, undefined);
  check(podOf('b', { priority: 2 }), [podOf('a', { priority: 1 })], podShort, ['a']);
  check(podOf('b', { priority: 1 }), [podOf('a', { priority: 1 })], podShort, undefined);
});

test('preemption selects the fewest and smallest pods, and the highest QoS class last', () => {
  const guaranteed = podOf('g', { cpu: '1', limited: true });
  const [small, middle, large] = ['100m', '300m', '2'].map((cpu) => podOf(cpu, { cpu }));
  check(critical, [guaranteed, small!, middle!, large!], cpuShort(200n), ['300m']);
  check(critical, [guaranteed, small!, middle!], cpuShort(400n), ['300m', '100m']);
  check(critical, [guaranteed, small!, middle!], cpuShort(1200n), ['300m', 'g']);
  check(critical, [podOf('idle'), guaranteed], cpuShort(1000n), ['g']);
  check(critical, [small!, middle!], cpuShort(500n), undefined);
});

test('among API server pods, only critical ones preempt others', () => {
  const others = [fromApi(podOf('a', { priority: 1 }))];
  check(fromApi(podOf('b', { priority: 1000 })), others, podShort, undefined);
  check(fromApi(critical), others, podShort, ['a']);
  check(podOf('static'), others, podShort, ['a']);
});

test('a critical pod that is also rejected for another reason preempts none and reports that reason', () => {
  const besides = { reason: 'NodePorts', message: 'taken' };
  const refusal = { reason: 'OutOfpods', message: '', shortages: podShort, besides };
  assert.deepEqual(makeRoom(critical, [podOf('a')], refusal), { refusal: besides });
  assert.deepEqual(makeRoom(fromApi(podOf('b')), [podOf('a')], refusal), { refusal });
});

test('a failed preemption returns upstream’s error for API pods and the original rejection for static pods', () => {
  const refusal = { reason: 'OutOfcpu', message: 'short', shortages: [...podShort, ...cpuShort(500n)] };
  const others = [fromApi(podOf('a', { cpu: '100m' }))];
  assert.deepEqual(makeRoom(fromApi(critical), others, refusal), {
    refusal: {
      reason: 'UnexpectedAdmissionError',
      message:
        'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 400), ]',
    },
  });
  assert.deepEqual(makeRoom(podOf('b'), others, refusal), { refusal });
});
