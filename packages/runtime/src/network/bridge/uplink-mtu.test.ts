import assert from 'node:assert/strict';
import { test } from 'node:test';
import { uplinkMtu } from './uplink-mtu.ts';

const links = [
  { index: 1, mtu: 65_536 },
  { index: 2, mtu: 1500 },
  { index: 3, mtu: 1400 },
  { index: 4, mtu: 9000 },
  { index: 5, mtu: 1000 },
];
const route = (family: 4 | 6, metric: number, ...linkIndexes: number[]) => ({ family, metric, linkIndexes });

test('pods have the smallest MTU among the links of the default routes', () => {
  assert.equal(uplinkMtu(links, [route(4, 0, 3)]), 1400);
  assert.equal(uplinkMtu(links, [route(4, 0, 4)]), 9000);
  assert.equal(uplinkMtu(links, [route(4, 0, 4), route(6, 0, 3)]), 1400);
  assert.equal(uplinkMtu(links, [route(4, 0, 4, 3)]), 1400);
});

test('a default route with a higher metric is not used', () => {
  assert.equal(uplinkMtu(links, [route(4, 100, 2), route(4, 600, 3)]), 1500);
});

test('without a default route pods have the Ethernet MTU', () => assert.equal(uplinkMtu(links, []), 1500));

test('the MTU is within the limits of IPv6 and veth links', () => {
  assert.equal(uplinkMtu(links, [route(4, 0, 5)]), 1280);
  assert.equal(uplinkMtu(links, [route(4, 0, 1)]), 65_535);
});
