import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBoundedJson } from './bounded-json.ts';
import { errorCode } from './errors.ts';

test('JSON with at most the given number of values is parsed', () => {
  const value = { a: [1, 'b', { c: null }], d: 'ä' };
  assert.deepEqual(parseBoundedJson(Buffer.from(JSON.stringify(value)), 8), value);
});

for (const [name, text] of Object.entries({
  'nested lists': '['.repeat(1000) + ']'.repeat(1000),
  'nested objects': `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`,
  'lists in a list': `[${'[],'.repeat(1000)}[]]`,
  numbers: `[${'1,'.repeat(1000)}1]`,
}))
  test(`JSON with more values is refused without parsing it: ${name}`, () => {
    const parse = () => parseBoundedJson(Buffer.from(`${text}?`), 1000);
    assert.throws(parse, (error) => errorCode(error) === 'resource_exhausted');
  });

test('a syntax error is that of JSON.parse', () => {
  assert.throws(() => parseBoundedJson(Buffer.from('{"a"'), 1000), SyntaxError);
});
