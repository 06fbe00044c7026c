import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { immutable, isDnsLabel, isDnsSubdomain, nonNegative, nonNegativeQuantity, positive } from './rules.ts';
import {
  configMapKeyProblems,
  domainProblem,
  envVarNameProblems,
  httpHeaderNameProblems,
  identifierProblems,
  pathSegmentProblems,
  percentProblems,
  portNumberProblems,
  unixIdProblems,
} from './texts.ts';

function check<T>(rule: (value: T) => readonly string[], valid: T[], invalid: T[]): void {
  for (const value of valid) assert.deepEqual(rule(value), [], String(value));
  for (const value of invalid) assert.notDeepEqual(rule(value), [], `"${value}"`);
}

describe('texts and numbers', () => {
  it('are valid or not, as in upstream', () => {
    const keys = ['.', '..', '..bad', 'b*d', 'bad!&bad', '', 'a'.repeat(254)];
    check(configMapKeyProblems, ['a', 'good', 'good-good', '_.1', 'a'.repeat(253), '.a', '...a'.slice(2)], keys);
    check(envVarNameProblems, ['a', '1', 'a b', '~!'], ['', 'a=b', 'é', '\n']);
    check(percentProblems, ['0%', '100%'], ['', '1', '%', '1.5%', '-1%']);
    check(httpHeaderNameProblems, ['X-Requested-With'], ['', 'a b', 'a_b', 'a:']);
    check(identifierProblems, ['a', '_a1', 'A_b'], ['', '1a', 'a-b', 'a.b']);
    check(pathSegmentProblems, ['a', 'a:b', '...'], ['.', '..', 'a/b', 'a%b']);
    check(portNumberProblems, [1, 65_535], [0, 65_536, -1]);
    check(unixIdProblems, [0, 2 ** 31 - 1], [-1, 2 ** 31]);
    assert.deepEqual(portNumberProblems(0), ['must be between 1 and 65535, inclusive']);
    assert.deepEqual(configMapKeyProblems('..a'), ["must not start with '..'"]);
  });

  it('are domains', () => {
    assert.equal(domainProblem('a.b.'), undefined);
    assert.equal(domainProblem('a')?.problem, 'should be a domain with at least two segments separated by dots');
    assert.equal(domainProblem(`${'a'.repeat(64)}.b`)?.problem, 'must be no more than 63 characters');
    assert.equal(domainProblem('a..b')?.value, 'a..b');
  });
});

describe('rules of fields', () => {
  const messages = (errors: { message: string }[]) => errors.map(({ message }) => message);

  it('report what upstream reports', () => {
    assert.deepEqual(messages(nonNegative('f', -1)), ['Invalid value: -1: must be greater than or equal to 0']);
    assert.deepEqual(nonNegative('f', undefined), []);
    assert.deepEqual(messages(positive('f', undefined)), ['Invalid value: 0: must be greater than zero']);
    assert.deepEqual(messages(nonNegativeQuantity('f', '-1Gi')), [
      'Invalid value: "-1Gi": must be greater than or equal to 0',
    ]);
    assert.deepEqual(messages(immutable('f', { a: 1 }, { a: 2 })), ['Invalid value: {"a":1}: field is immutable']);
    assert.deepEqual(immutable('f', undefined, []), []);
    assert.equal(isDnsLabel('f', 'a.b')[0]?.message, 'Invalid value: "a.b": must not contain dots');
    assert.equal(isDnsSubdomain('f', 'a.b').length, 0);
  });
});
