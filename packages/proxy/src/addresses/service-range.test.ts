import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { addressIn, lockServiceRange, rangesOfNodes, routesInto } from './service-range.ts';

test('running nodes on a host cannot serve overlapping ranges, and the range of a stopped node is available again', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-ranges-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const unlock = lockServiceRange(directory, '10.96.0.0/12');
  for (const range of ['10.96.0.0/12', '10.96.0.0/16', '10.97.1.2/24', '10.0.0.0/8'])
    assert.throws(() => lockServiceRange(directory, range), /another node of this host serves the range/);
  const other = lockServiceRange(directory, '10.112.0.0/12');
  assert.deepEqual(rangesOfNodes(directory).sort(), ['10.112.0.0/12', '10.96.0.0/12']);
  assert.deepEqual(rangesOfNodes(join(directory, 'none')), []);
  unlock();
  const again = lockServiceRange(directory, '10.96.0.0/16');
  assert.throws(() => lockServiceRange(directory, '10.96.0.0/12'), /serves the range 10\.96\.0\.0\/16/);
  for (const end of [other, again]) end();
});

test('an offset is relative to the first address in the range, not to the address as written', () => {
  assert.equal(addressIn('10.96.0.0/12', 1), '10.96.0.1');
  assert.equal(addressIn('10.96.3.7/12', 10), '10.96.0.10');
  assert.equal(addressIn('10.96.1.0/24', 10), '10.96.1.10');
});

test('routes into a range cover the whole range or a part of it, but no more', () => {
  const own = ['10.96.0.1', '10.96.0.10'];
  const routed = ['10.0.0.0/8', '10.96.0.0/12', '10.96.0.8/29', '10.96.0.10/32', '10.100.0.0/16', '10.112.0.0/12'];
  const { taken, others } = routesInto('10.96.0.0/12', own, [...routed, 'fd00::/64']);
  assert.deepEqual(taken, ['10.96.0.0/12', '10.96.0.8/29', '10.96.0.10/32']);
  assert.deepEqual(others, ['10.100.0.0/16']);
});
