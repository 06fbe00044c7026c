import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@podwright/api-machinery';
import { checkValues } from './check-values.ts';
import { scanJson } from './json-scanner.ts';
import { parseJsonBody, parseYamlBody } from './parsed-body.ts';

const message = 'Request entity too large: limit is 100000 values';

test('a body with too many values is refused, however they are nested', () => {
  const list = Array.from({ length: 60_000 }, () => 1);
  assert.doesNotThrow(() => checkValues({ a: list }));
  assert.throws(() => checkValues({ a: list, b: { c: list } }), { message });
  assert.throws(() => parseJsonBody(JSON.stringify(list.map(() => [1]))), { message });
  let deep: unknown = 1;
  for (let level = 0; level < 100_001; level++) deep = [deep];
  assert.throws(() => checkValues(deep), { message });
});

test('a number that would be rounded is rejected, in JSON and in YAML', () => {
  const inexact = (error: unknown) =>
    error instanceof ApiError &&
    error.status.code === 400 &&
    error.message === 'the body has a number beyond ±9007199254740991, which this server cannot store exactly';
  for (const number of ['9007199254740993', '9223372036854775807', '-9223372036854775808', '1e400']) {
    assert.throws(() => parseJsonBody(`{"a":[${number}]}`), inexact, number);
    if (!number.includes('e')) assert.throws(() => parseYamlBody(`a:\n- ${number}\n`), inexact, number);
  }
  for (const number of ['9007199254740991', '-9007199254740991', '0.1000', '1e3'])
    assert.doesNotThrow(() => parseJsonBody(`{"a":[${number}]}`), number);
});

test('the values of a JSON text are counted before it is parsed', () => {
  assert.throws(() => scanJson(`[${'1,'.repeat(100_000)}x`), { message });
});
