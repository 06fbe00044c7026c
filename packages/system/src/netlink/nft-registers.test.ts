import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAttributes } from './message.ts';
import type { NftExpression } from './nft-encoding.ts';
import { loadAddress, loadRandom, lookUp, toPorts, translateTo, updateSet } from './nft-registers.ts';

/** Returns the encoded attributes of an nf_tables expression, without the expression's name. */
const data = (expression: NftExpression): string => {
  const [name, attributes] = expression[1] as NftExpression[];
  assert.equal(name?.[0], 1);
  return encodeAttributes(attributes![1] as NftExpression[]).toString('hex');
};

test('a four-byte word is addressed by a 16-byte register if one starts there', () => {
  assert.match(data(loadAddress('saddr', 4, 0)), /^0800010000000001/);
  assert.match(data(loadAddress('daddr', 6, 4)), /^0800010000000002/);
  assert.match(data(loadRandom(3, 5)), /^080001000000000d0800020000000003/);
});

test('lookups, translations and updates of sets name their registers', () => {
  assert.equal(data(lookUp('m', 0, 2)), '060001006d00000008000200000000010800030000 00000a'.replace(' ', ''));
  assert.equal(data(translateTo(6, 0, 4)), '0800010000000001080002000000000a08000300000000010800050000000002');
  assert.equal(
    data(updateSet('s', 0, 10_000)),
    '0600010073000000080003000000000108000400000000010c0006000000000000002710',
  );
});

test('ports are compared in network byte order, a single port by equality', () => {
  assert.equal(data(toPorts(80, 80)[1]!), '080001000000000108000200000000000c000380060001000050'.concat('0000'));
  const operators = toPorts(80, 90)
    .slice(1)
    .map((expression) => data(expression).slice(24, 32));
  assert.deepEqual(operators, ['00000005', '00000003']);
});
