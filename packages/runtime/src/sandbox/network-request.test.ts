import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { networkRequest, tearDownRequest } from './network-request.ts';

const sandbox = (annotations: Record<string, string>) =>
  ({ id: 'x', config: { annotations, portMappings: [], cgroupParent: '' } }) as unknown as SandboxRecord;

test('the pod’s bandwidth annotations are passed to the network in bits per second', () => {
  assert.equal(networkRequest(sandbox({}), '/n').bandwidth, undefined);
  assert.deepEqual(networkRequest(sandbox({ 'kubernetes.io/ingress-bandwidth': '10M' }), '/n').bandwidth, {
    ingressRate: 10_000_000,
    egressRate: undefined,
  });
  assert.equal(
    networkRequest(sandbox({ 'kubernetes.io/egress-bandwidth': '1.5Ki' }), '/n').bandwidth?.egressRate,
    1536,
  );
});

test('a bandwidth that is not a quantity or is out of range is rejected', () => {
  for (const text of ['', 'fast', '-1M', '1', '2P']) {
    assert.throws(() => networkRequest(sandbox({ 'kubernetes.io/ingress-bandwidth': text }), '/n'), {
      code: 'invalid_argument',
    });
  }
});

test('a sandbox with an invalid bandwidth can be torn down', () => {
  const refused = sandbox({ 'kubernetes.io/ingress-bandwidth': 'fast' });
  assert.equal(tearDownRequest(refused, '/n').bandwidth, undefined);
  assert.equal(
    tearDownRequest(sandbox({ 'kubernetes.io/ingress-bandwidth': '10M' }), '/n').bandwidth?.ingressRate,
    1e7,
  );
});
