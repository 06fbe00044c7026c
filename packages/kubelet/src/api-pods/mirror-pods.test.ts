import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { CONFIG_MIRROR_ANNOTATION } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import { apiPod, fakeApi } from './api-pods.fixture.ts';
import { decodeApiPod } from './decode-api-pod.ts';
import { MirrorPods } from './mirror-pods.ts';

test('a mirror pod without a static pod is kept until the manifests have been read', async (t) => {
  const api = fakeApi();
  const mirrors = new MirrorPods({
    ...{ client: api, logger: silentLogger, node: () => undefined, staticPods: () => [] },
    isEnding: () => false,
    onMirror: () => undefined,
  });
  t.after(() => mirrors.stop());
  const decoded = decodeApiPod(api.put(PODS, apiPod('local', { annotations: { [CONFIG_MIRROR_ANNOTATION]: 'h' } })), 0);
  assert.ok(decoded.kind === 'pod');
  mirrors.set(decoded.pod);
  mirrors.begin();
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(api.callsOf({ verb: 'delete' }), []);
  mirrors.allowRemoval();
  await api.waitForCalls({ verb: 'delete', name: 'local' });
});
