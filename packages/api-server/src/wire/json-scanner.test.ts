import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonSyntaxError, scanJson } from './json-scanner.ts';

const fails = (text: string, message: string) =>
  assert.throws(
    () => scanJson(text),
    (error) => error instanceof JsonSyntaxError && error.message === message,
    text,
  );

test('reports syntax errors with Go’s messages', () => {
  fails('', 'unexpected end of JSON input');
  fails('{', 'unexpected end of JSON input');
  fails('{"a":"b', 'unexpected end of JSON input');
  fails('x', "invalid character 'x' looking for beginning of value");
  fails('[1,]', "invalid character ']' looking for beginning of value");
  fails('{a:1}', "invalid character 'a' looking for beginning of object key string");
  fails('{"a":1,}', "invalid character '}' looking for beginning of object key string");
  fails('{"a" 1}', "invalid character '1' after object key");
  fails('{"a":1 "b"}', `invalid character '"' after object key:value pair`);
  fails('[1 2]', "invalid character '2' after array element");
  fails('{} x', "invalid character 'x' after top-level value");
  fails('"a\nb"', "invalid character '\\n' in string literal");
  fails('"\\x"', "invalid character 'x' in string escape code");
  fails('"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape");
  fails('-x', "invalid character 'x' in numeric literal");
  fails('nul', 'unexpected end of JSON input');
  fails('nulx', "invalid character 'x' in literal null (expecting 'l')");
  fails("'a'", "invalid character '\\'' looking for beginning of value");
});

test('accepts what JSON.parse accepts, and nothing else', () => {
  const parses = (read: (text: string) => unknown, text: string): boolean => {
    try {
      read(text);
      return true;
    } catch {
      return false;
    }
  };
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"\\u0041"',
    '1',
    '-0.5e+3',
    '01',
    '.',
    'true',
    'null',
    ' ',
    '\n',
  ];
  let state = 7;
  for (let round = 0; round < 20_000; round++) {
    let text = '';
    for (let length = 1 + (round % 9); length > 0; length--) {
      state = (state * 48_271) % 2_147_483_647;
      text += pieces[state % pieces.length];
    }
    assert.equal(parses(scanJson, text), parses(JSON.parse, text), text);
  }
});

test('finds duplicate fields and their paths', () => {
  assert.deepEqual(scanJson('{"a":1,"b":[{"c":1},{"c":1,"c":{"d":1,"d":2}}],"a":2}'), [
    ['b', 1, 'c'],
    ['b', 1, 'c', 'd'],
    ['a'],
  ]);
  assert.deepEqual(scanJson('{"a":1,"\\u0061":2,"__proto__":1,"constructor":2}'), [['a']]);
  assert.equal(scanJson(`{${'"a":1,'.repeat(1000)}"a":1}`).length, 100);
});

test('limits the nesting depth without recursion', () => {
  assert.deepEqual(scanJson('['.repeat(10_000) + ']'.repeat(10_000)), []);
  fails('['.repeat(1_000_000), 'exceeded max depth');
  fails('{"a":'.repeat(1_000_000), 'exceeded max depth');
});
