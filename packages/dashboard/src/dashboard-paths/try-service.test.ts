import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressesOf } from './try-service.ts';

test('only cluster IPs are tried, and no loopback or link-local addresses', () => {
  assert.deepEqual(addressesOf({ clusterIP: '10.96.0.10' }), ['10.96.0.10']);
  assert.deepEqual(addressesOf({ clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1', 'fd00::1'] }), [
    '10.96.0.1',
    'fd00::1',
  ]);
  assert.deepEqual(addressesOf({ clusterIP: 'None', clusterIPs: ['None'] }), []);
  assert.deepEqual(addressesOf({}), []);
  for (const address of [
    '127.0.0.1',
    '127.1.2.3',
    '169.254.169.254',
    '0.0.0.0',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    'fe80::1',
    'name',
  ])
    assert.deepEqual(addressesOf({ clusterIPs: [address] }), [], address);
});
