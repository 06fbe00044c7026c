import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyRuntimePod, latestContainer, type RuntimeContainer, withSandbox } from './runtime-pod.ts';

test('the newest container is the one with the most restarts, even if the clock went backwards', () => {
  const one = (restartCount: number, createdAtMs: number) =>
    ({ id: `app-${restartCount}`, name: 'app', sandboxId: 's', restartCount, createdAtMs }) as RuntimeContainer;
  const status = withSandbox(emptyRuntimePod({ name: 'web', namespace: 'default', uid: 'u' }), {
    id: 's',
    sandbox: undefined,
    containers: [one(0, 7_200_000), one(1, 3_600_000)],
  });
  assert.equal(latestContainer(status, 'app')?.id, 'app-1');
});
