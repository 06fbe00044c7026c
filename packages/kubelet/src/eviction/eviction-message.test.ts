import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Observations, resourceOf, type Signal, thresholdsOf } from '@podwright/kubelet-configuration';
import { evictionMessage } from './eviction-message.ts';
import { type GivenPod, podOf, statsOf } from './pods.fixture.ts';

function messageOf(signal: Signal, threshold: string, pod: GivenPod = {}) {
  const settings = { hard: { [signal]: threshold }, soft: {}, softGracePeriod: {}, minimumReclaim: {} };
  const pressing = thresholdsOf(settings, { areHeldToAllocatable: false });
  const observations: Observations = new Map([[signal, { available: 3000n, capacity: 40_960n, atMs: 0 }]]);
  const candidate = { pod: podOf('web', pod), stats: statsOf('web', { memory: 50, root: 2, logs: 1, processes: 7 }) };
  return evictionMessage(candidate, resourceOf(signal), { pressing, observations });
}

test('the message and annotations of an eviction match upstream', () => {
  assert.deepEqual(messageOf('memory.available', '100Mi', { requests: { memory: '10Mi' } }), {
    message:
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 3000. ' +
      'Container main was using 50Mi, request is 10Mi, has larger consumption of memory. ',
    annotations: {
      offending_containers: 'main',
      offending_containers_usage: '50Mi',
      starved_resource: 'memory',
    },
  });
  assert.equal(
    messageOf('nodefs.available', '10%').message,
    'The node was low on resource: ephemeral-storage. Threshold quantity: 4Ki, available: 3000. ' +
      'Container main was using 3Mi, request is 0, has larger consumption of ephemeral-storage. ',
  );
  assert.deepEqual(messageOf('pid.available', '9k'), {
    message: 'The node was low on resource: pids. Threshold quantity: 9k, available: 3k. ',
    annotations: { offending_containers: '', offending_containers_usage: '', starved_resource: 'pids' },
  });
});

test('the message includes usage above pod-level requests', () => {
  const resources = { requests: { memory: '1Mi' } };
  const { message, annotations } = messageOf('memory.available', '1Mi', { spec: { resources } });
  assert.match(message, /Pod web was using 50Mi, request is 1Mi, has larger consumption of memory\. Container main/);
  assert.equal(annotations.offending_pod_usage, '50Mi');
});

test('the message for a pod without stats names only the resource', () => {
  const observations: Observations = new Map();
  const eviction = evictionMessage({ pod: podOf('web') }, 'memory', { pressing: [], observations });
  assert.deepEqual(eviction, { message: 'The node was low on resource: memory. ', annotations: {} });
});
