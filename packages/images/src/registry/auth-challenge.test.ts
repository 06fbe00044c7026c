import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseChallenges } from './auth-challenge.ts';

function check(header: string, expected: [string, Record<string, string>][]): void {
  assert.deepEqual(
    parseChallenges(header).map(({ scheme, parameters }) => [scheme, parameters]),
    expected,
    header,
  );
}

test('challenges may have quoted strings with commas, and a header may have several challenges', () => {
  check('Bearer realm="https://auth.example/token",service="r",scope="repository:a/b:pull,push"', [
    ['bearer', { realm: 'https://auth.example/token', service: 'r', scope: 'repository:a/b:pull,push' }],
  ]);
  check('Basic realm="a \\"quoted\\" one"', [['basic', { realm: 'a "quoted" one' }]]);
  check('Bearer realm=x, error=invalid_token, Basic realm="y"', [
    ['bearer', { realm: 'x', error: 'invalid_token' }],
    ['basic', { realm: 'y' }],
  ]);
  check('Negotiate, BASIC Realm = "y"', [
    ['negotiate', {}],
    ['basic', { realm: 'y' }],
  ]);
});

test('the parsable part of a malformed header is returned', () => {
  check('', []);
  check('Bearer realm="never closed', [['bearer', { realm: '' }]]);
  check('=', []);
});
