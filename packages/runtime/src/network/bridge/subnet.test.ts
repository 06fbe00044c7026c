import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSubnets } from './subnet.ts';

test('a single subnet, or one per family, is parsed', () => {
  assert.deepEqual(parseSubnets('10.88.0.0/16'), [{ cidr: '10.88.0.0/16', family: 4 }]);
  assert.deepEqual(parseSubnets('10.88.3.4/16,FD00:88:0::1/64'), [
    { cidr: '10.88.0.0/16', family: 4 },
    { cidr: 'fd00:88::/64', family: 6 },
  ]);
  assert.deepEqual(
    parseSubnets('10.88.0.0/16, fd00:88::/64').map(({ family }) => family),
    [4, 6],
  );
});

test('invalid pod subnets are rejected', () => {
  for (const text of ['', '10.88.0.0', '10.88.0.0/31', '10.0.0.0/4', 'x/16', '10.0.0.0/1e1', '10.0.0.0/16,10.1.0.0/16'])
    assert.throws(() => parseSubnets(text), /pod subnet/, text);
});

test('loopback, link-local and multicast addresses are rejected as pod subnets', () => {
  for (const text of [
    '127.0.0.0/8',
    '127.8.0.0/16',
    '169.254.0.0/16',
    '224.0.0.0/8',
    'fe80::/64',
    'ff02::/64',
    '::/64',
  ])
    assert.throws(() => parseSubnets(text), /loopback, link-local or multicast/, text);
});
