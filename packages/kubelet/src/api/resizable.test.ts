import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { withoutAmounts } from './resizable.ts';
import type { Pod, ResourceRequirements } from './types.ts';

const podOf = (resources: ResourceRequirements): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: '' },
  spec: { containers: [{ name: 'app', image: 'busybox', resources }] },
});

function check(before: ResourceRequirements, after: ResourceRequirements, same: boolean): void {
  const equal = isDeepStrictEqual(withoutAmounts(podOf(before)), withoutAmounts(podOf(after)));
  assert.equal(equal, same, JSON.stringify([before, after]));
}

test('a pod of which amounts of cpu and memory change stays the same pod, and no other change does that', () => {
  check({ requests: { cpu: '1' } }, { requests: { cpu: '2' } }, true);
  check({ requests: { cpu: '1' }, limits: { cpu: '2' } }, { requests: { cpu: '500m' }, limits: { cpu: '3' } }, true);
  check({ requests: { cpu: '1' } }, { requests: { cpu: '1' }, limits: { cpu: '2' } }, false);
  check({ requests: { cpu: '1', memory: '1Gi' } }, { requests: { cpu: '1' } }, false);
  check({ requests: { cpu: '1' } }, { requests: { cpu: '0' } }, false);
  check({ limits: { 'hugepages-2Mi': '2Mi' } }, { limits: { 'hugepages-2Mi': '4Mi' } }, false);
  const guaranteed = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } };
  check(guaranteed, { ...guaranteed, requests: { cpu: '500m', memory: '1Gi' } }, false);
  check(guaranteed, { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '2000m', memory: '1Gi' } }, true);
});
