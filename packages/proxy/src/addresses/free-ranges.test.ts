import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseRanges, freeRanges } from './free-ranges.ts';

test('ranges overlap neither host routes nor each other', () => {
  const used = ['10.0.0.0/9', '10.128.0.0/10', '10.200.0.0/13', '172.16.0.0/12', 'fd00::/8'];
  for (let round = 0; round < 200; round++) {
    const { subnet, serviceCidr } = chooseRanges(used);
    for (const block of [subnet, serviceCidr]) {
      const [, second] = block.split('.').map(Number);
      assert.match(block, /^10\.\d+\.\d+\.0\/24$/);
      assert.ok(second! >= 192 && (second! < 200 || second! >= 208), block);
    }
    assert.notEqual(subnet, serviceCidr);
  }
});

test('if host routes cover entire private networks, only narrower routes are avoided', () => {
  const whole = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];
  assert.match(chooseRanges(whole.slice(0, 1)).subnet, /^172\./);
  assert.match(chooseRanges(whole.slice(0, 2)).subnet, /^192\.168\./);
  assert.match(chooseRanges([...whole, '10.0.0.0/9']).subnet, /^10\.(12[89]|1[3-9]\d|2\d\d)\./);
});

test('a configured range is used, and the other range does not overlap it', async () => {
  const most = Array.from({ length: 255 }, (_, net) => `10.${net}.0.0/16`);
  const others = Array.from({ length: 255 }, (_, block) => `10.255.${block}.0/24`);
  const given = { subnet: '10.255.255.0/24,fd00::/64' };
  const { subnet, serviceCidr } = chooseRanges([...most, ...others], given);
  assert.equal(subnet, given.subnet);
  assert.match(serviceCidr, /^172\./);
  assert.match((await freeRanges('/none', { serviceCidr: '10.9.0.0/16' })).serviceCidr, /^10\.9\.0\.0\/16$/);
});
