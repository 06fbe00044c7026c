import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PODS } from '@podwright/kube-client';
import { STATEFUL_SETS } from '../objects/stateful-set.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { newStatefulSet } from './stateful-set.fixture.ts';
import { statefulSetController } from './stateful-set-controller.ts';

test('a failed pod is replaced at once the first time, then after a second', async () => {
  await using place = new TestPlace(statefulSetController);
  place.client.put(STATEFUL_SETS, newStatefulSet({ replicas: 1 }));
  const replaced: number[] = [];
  const uids = new Set<string>();
  const begin = Date.now();
  await place.until(async () => {
    for (const pod of await place.pods()) {
      if (!uids.has(pod.metadata.uid)) replaced.push(Date.now() - begin);
      uids.add(pod.metadata.uid);
      const status = { phase: 'Failed', reason: 'NodePorts' } as const;
      if (pod.status?.phase !== 'Failed') place.client.put(PODS, { ...pod, status });
    }
    return uids.size === 3;
  });
  assert.ok(replaced[2]! - replaced[1]! >= 900, replaced.join(', '));
});
