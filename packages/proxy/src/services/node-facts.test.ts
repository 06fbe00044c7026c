import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressesIn, isInBlock, nodeFacts } from './node-facts.ts';

test('the primary addresses are the first internal address of each IP family, or else an external one', () => {
  const addresses = [
    { type: 'Hostname', address: 'here' },
    { type: 'ExternalIP', address: '192.0.2.1' },
    { type: 'ExternalIP', address: 'fd00::9' },
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'InternalIP', address: '10.0.0.2' },
  ] as const;
  const metadata = { name: 'here', labels: { 'topology.kubernetes.io/zone': 'a' } };
  const node = { metadata, spec: { podCIDRs: ['10.1.0.0/24'] }, status: { addresses: [...addresses] } };
  const facts = nodeFacts('here', node);
  assert.deepEqual(facts.nodePortAddresses, ['10.0.0.1', 'fd00::9']);
  assert.deepEqual([facts.zone, facts.podCidrs], ['a', ['10.1.0.0/24']]);
  assert.deepEqual(nodeFacts('here', undefined).nodePortAddresses, []);
});

test('interface addresses are selected by CIDR blocks of their IP family', () => {
  const interfaces = {
    lo: [{ address: '127.0.0.1' }],
    eth0: [{ address: '10.0.0.1' }, { address: 'fd00::1' }, { address: 'fe80::1', scopeid: 2 }],
  };
  assert.deepEqual(addressesIn(['10.0.0.0/8'], interfaces), ['10.0.0.1']);
  assert.deepEqual(addressesIn(['0.0.0.0/0', '::/0'], interfaces), ['127.0.0.1', '10.0.0.1', 'fd00::1']);
  assert.ok(isInBlock('10.1.2.3', '10.1.2.3/32'));
  assert.ok(!isInBlock('fd00::1', '0.0.0.0/0'));
});
