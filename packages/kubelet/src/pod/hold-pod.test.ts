import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { holdPod } from './hold-pod.ts';

function check(
  of: { errors?: string[]; network?: string; hostNetwork?: boolean },
  expected: { held: boolean; events: string[] },
): void {
  const { errors = [], network, hostNetwork } = of;
  const events: string[] = [];
  const pod = {
    metadata: { name: 'web', namespace: 'default', uid: 'u' },
    spec: { containers: [], hostNetwork },
  } as unknown as Pod;
  const obstacles = { runtimeErrors: () => errors, networkError: () => network };
  const event = (_: unknown, type: string, reason: string, message: string) =>
    void events.push(`${type} ${reason} ${message}`);
  const outcome = holdPod(pod, obstacles, { event });
  assert.deepEqual({ held: outcome !== undefined, events }, expected);
  if (outcome !== undefined) assert.ok(!outcome.ended && outcome.retryAtMs! > Date.now());
}

test('a pod waits for the runtime, and for the network unless it uses the host network', () => {
  check({}, { held: false, events: [] });
  check({ errors: ['container runtime is down'], network: 'x' }, { held: true, events: [] });
  check({ network: 'x' }, { held: true, events: ['Warning NetworkNotReady network is not ready: x'] });
  check({ network: 'x', hostNetwork: true }, { held: false, events: [] });
});
