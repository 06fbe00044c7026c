import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressBytes, addressText, prefixMask } from './ip-address.ts';

test('addresses are converted to bytes in network byte order', () => {
  const table: [string, string][] = [
    ['10.88.0.1', '0a580001'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['fd00:88::', 'fd000088000000000000000000000000'],
    ['2001:db8:1:2:3:4:5:6', '20010db8000100020003000400050006'],
    ['::ffff:10.0.0.2', '00000000000000000000ffff0a000002'],
  ];
  for (const [text, hex] of table) assert.equal(addressBytes(text).toString('hex'), hex, text);
});

test('bytes are converted to addresses in their shortest form', () => {
  for (const text of ['10.88.0.1', '::', '::1', 'fd00:0:0:1::', '1:2:3:4:5:6:7:8', '64:ff9b::a00:1'])
    assert.equal(addressText(addressBytes(text)), text);
  assert.equal(addressText(addressBytes('FD00:0:0:0::1')), 'fd00::1');
});

test('text that is not an address is rejected', () => {
  for (const text of ['', '10.0.0', '10.0.0.256', 'fe80::1%eth0', '1::2::3', 'x'])
    assert.throws(() => addressBytes(text), { code: 'invalid_argument' }, text);
});

test('a mask has as many ones as the prefix is long', () => {
  const table: [number, number, string][] = [
    [0, 4, '00000000'],
    [8, 4, 'ff000000'],
    [15, 4, 'fffe0000'],
    [32, 4, 'ffffffff'],
    [65, 16, 'ffffffffffffffff8000000000000000'],
  ];
  for (const [length, bytes, hex] of table) assert.equal(prefixMask(length, bytes).toString('hex'), hex);
});
