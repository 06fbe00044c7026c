import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accepts, parseAccept } from './accept.ts';

test('media ranges are sorted by preference', () => {
  const check = (header: string, expected: string) =>
    assert.equal(
      parseAccept(header)
        .map(({ type, subtype }) => `${type}/${subtype}`)
        .join(),
      expected,
    );
  check('', '*/*');
  check('*', '*/*');
  check('application/json', 'application/json');
  check('text/plain;q=0.5, application/json', 'application/json,text/plain');
  check('*/*, application/*, application/yaml', 'application/yaml,application/*,*/*');
  check('*/*;q=1, application/json;q=0.1', '*/*,application/json');
  check('application/vnd.kubernetes.protobuf,application/json', 'application/vnd.kubernetes.protobuf,application/json');
  check('Application/JSON', 'application/json');
  check('application/json;q=many', 'application/json');
  check('nonsense, */json, a/b/c, /, application/yaml', 'application/yaml');
});

test('parameters are parsed without the quality value', () => {
  const [clause] = parseAccept('application/json; as=Table ;v="v1";g=meta.k8s.io;q=0.9;flag');
  assert.deepEqual(clause!.params, { as: 'Table', v: 'v1', g: 'meta.k8s.io', flag: '' });
  assert.equal(parseAccept('a/b;__proto__=c')[0]!.params.as, undefined);
});

test('wildcards match media types', () => {
  const check = (header: string, mediaType: string, expected: boolean) =>
    assert.equal(accepts(parseAccept(header)[0]!, mediaType), expected);
  check('*/*', 'application/json', true);
  check('application/*', 'application/json', true);
  check('application/json', 'application/json', true);
  check('application/yaml', 'application/json', false);
  check('text/*', 'application/json', false);
});

test('a header of any length yields a bounded number of clauses', () => {
  assert.equal(parseAccept('a/b,'.repeat(1_000_000)).length, 100);
});
