import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advertisedAddress, urlOf } from './server-address.ts';

test('only addresses reachable by other machines are advertised', () => {
  assert.equal(advertisedAddress('192.0.2.1', 'IPv4'), '192.0.2.1');
  assert.equal(advertisedAddress('2001:db8::1', 'IPv6'), '2001:db8::1');
  for (const host of ['::1', 'fe80::1', '192.0.2.1', '0.0.0.0'])
    assert.equal(advertisedAddress(host, 'IPv6'), undefined, host);
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost', 'fd00::1'])
    assert.equal(advertisedAddress(host, 'IPv4'), undefined, host);
  assert.doesNotMatch(advertisedAddress('0.0.0.0', 'IPv4') ?? '', /^127\.|:/);
});

test('a URL gets an address to connect to', () => {
  assert.equal(urlOf({ host: '0.0.0.0', port: 6443 }), 'https://127.0.0.1:6443');
  assert.equal(urlOf({ host: '::', port: 6443 }), 'https://127.0.0.1:6443');
  assert.equal(urlOf({ host: 'fd00::1', port: 6443 }), 'https://[fd00::1]:6443');
});
