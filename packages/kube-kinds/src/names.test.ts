import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  dns1123SubdomainWithUnderscoreProblems,
  labelValueProblems,
  nameIsDns1035Label,
  nameIsDnsLabel,
  nameIsDnsSubdomain,
  portNameProblems,
  qualifiedNameProblems,
  wildcardSubdomainProblems,
} from './names.ts';

type Rule = (value: string) => readonly string[];

/** Asserts that the naming rule accepts all values of the first list, and none of the second. */
function check(rule: Rule, valid: string[], invalid: string[]): void {
  for (const value of valid) assert.deepEqual(rule(value), [], value);
  for (const value of invalid) assert.notDeepEqual(rule(value), [], `"${value}"`);
}

const long = (length: number) => 'a'.repeat(length);
const SPACED = ['', 'a b', ' a', 'a ', 'a\n', 'a#b', 'é'];

describe('names', () => {
  it('are labels of RFC 1123', () => {
    const valid = ['a', 'ab', 'a1', 'a-1', 'a--1--2--b', '0', '01', '1-a', long(63)];
    check(dns1123LabelProblems, valid, [...SPACED, 'A', 'aBc', '-', 'a-', '-a', '_', 'a_b', 'a.b', '.', long(64)]);
  });

  it('are subdomains of RFC 1123', () => {
    const valid = ['a', 'a.b', '1.2.3', 'a-1.b--2', '0.0', `${long(250)}.ab`];
    check(dns1123SubdomainProblems, valid, [
      ...SPACED,
      '.',
      'a.',
      '.a',
      'a..b',
      'A.a',
      '-.a',
      'a.-b',
      'a_b.c',
      long(254),
    ]);
    check(dns1123SubdomainWithUnderscoreProblems, ['_tcp.a_b', 'a'], ['__a', 'a._', 'A']);
  });

  it('are labels of RFC 1035', () => {
    check(dns1035LabelProblems, ['a', 'a1', 'a-1', long(63)], [...SPACED, '0', '1a', 'a.b', 'A', 'a-', long(64)]);
  });

  it('are wildcard subdomains', () => {
    check(
      wildcardSubdomainProblems,
      ['*.a', '*.a.b', '*.foo-1.com'],
      ['*', '**.a', '*.*.a', 'a.*', '*a.b', '*.', 'a.b'],
    );
  });

  it('are qualified names', () => {
    const valid = [
      'simple',
      'now-with-dashes',
      '1-starts',
      '1234',
      'simple/simple',
      'a.b/c_D.e',
      'UpperCase',
      long(63),
    ];
    const tooLong = [long(64), `${long(254)}/a`];
    check(qualifiedNameProblems, valid, [
      ...SPACED,
      '/',
      'a/',
      '/a',
      'a/b/c',
      'Upper/a',
      'a_b/c',
      '-a',
      'a-',
      ...tooLong,
    ]);
    check(labelValueProblems, ['', 'a', 'A_b.c-D', long(63)], ['a b', '-a', 'a.', 'a/b', long(64)]);
  });

  it('are names of ports', () => {
    check(
      portNameProblems,
      ['telnet', 're-mail-ck', 'pop3', 'a', 'a-1', '1-a', '0a'],
      [...['longerthan15characters', '', '12345', '1-2-3-4', '-begin', 'end-', 'two--hyphens', 'whois++', 'A']],
    );
  });
});

describe('problems of names', () => {
  it('are in upstream’s words', () => {
    assert.deepEqual(dns1123LabelProblems('A.'), [
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ]);
    assert.deepEqual(dns1123LabelProblems(`${long(64)}.b`), [
      'must be no more than 63 characters',
      'must not contain dots',
    ]);
    assert.deepEqual(dns1123SubdomainProblems('A'), [
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ]);
    assert.deepEqual(qualifiedNameProblems(`/${long(64)}`), [
      'prefix part must be non-empty',
      'name part must be no more than 63 bytes',
    ]);
    assert.deepEqual(qualifiedNameProblems('a/b/c'), [
      "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ]);
    assert.deepEqual(labelValueProblems(`${long(64)}`), ['must be no more than 63 bytes']);
    assert.equal(labelValueProblems('é'.repeat(32))[0], 'must be no more than 63 bytes');
  });

  it('allow a final dash in the prefix of a generated name', () => {
    assert.deepEqual(nameIsDnsLabel('web-', true), []);
    assert.deepEqual(nameIsDnsSubdomain('web.-', true), []);
    assert.deepEqual(nameIsDns1035Label('web-', true), []);
    assert.notDeepEqual(nameIsDnsLabel('web-', false), []);
    assert.notDeepEqual(nameIsDnsLabel('-', true), []);
  });

  it('are found in linear time', () => {
    const start = performance.now();
    for (const text of [`${'a'.repeat(1e6)}!`, `${'a.'.repeat(5e5)}!`, `${'-'.repeat(1e6)}`])
      for (const rule of [dns1123LabelProblems, dns1123SubdomainProblems, qualifiedNameProblems, labelValueProblems])
        assert.notDeepEqual(rule(text), []);
    assert.ok(performance.now() - start < 5000);
  });
});
