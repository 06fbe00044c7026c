import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressAt, blockOf, cidrOf, hardwareAddressOf, overlap, rangeOf } from './address-range.ts';

test('the pod range excludes the network, gateway and broadcast addresses', () => {
  const table: [string, 4 | 6, string, string, string][] = [
    ['10.88.0.0/16', 4, '10.88.0.1', '10.88.0.2', '10.88.255.254'],
    ['10.88.0.8/29', 4, '10.88.0.9', '10.88.0.10', '10.88.0.14'],
    ['10.88.0.4/30', 4, '10.88.0.5', '10.88.0.6', '10.88.0.6'],
    ['fd00:88::/64', 6, 'fd00:88::1', 'fd00:88::2', 'fd00:88::ffff:ffff:ffff:ffff'],
  ];
  for (const [cidr, family, gateway, first, last] of table) {
    const range = rangeOf({ cidr, family });
    const found = [range.gateway, addressAt(family, range.first), addressAt(family, range.last)];
    assert.deepEqual(found, [gateway, first, last], cidr);
  }
});

test('blocks overlap if one contains the other', () => {
  const table: [string, string, boolean][] = [
    ['10.83.0.0/16', '10.83.4.0/24', true],
    ['10.83.0.0/16', '10.0.0.0/8', true],
    ['10.83.0.0/16', '10.84.0.0/16', false],
    ['0.0.0.0/0', '10.84.0.0/16', true],
    ['fd00::/8', 'fd00:1::/64', true],
    ['::/0', '10.84.0.0/16', false],
  ];
  for (const [one, other, expected] of table) {
    assert.equal(overlap(blockOf(one), blockOf(other)), expected, `${one} ${other}`);
    assert.equal(overlap(blockOf(other), blockOf(one)), expected, `${other} ${one}`);
  }
  assert.equal(cidrOf(blockOf('10.83.4.7/16')), '10.83.0.0/16');
});

test('a MAC address is derived from the IP address, unicast and locally administered', () => {
  assert.equal(hardwareAddressOf('10.88.1.2').toString('hex'), '0a580a580102');
  assert.equal(hardwareAddressOf('fd00::1:2').toString('hex'), '0a0000010002');
});
