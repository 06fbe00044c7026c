import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rewrittenLocation } from './rewritten-location.ts';

const prefix = '/api/v1/namespaces/a/pods/p/proxy';
const seen = { backend: { scheme: 'http', authority: '10.0.0.1:80' }, host: 'api:6443', prefix } as const;

test('rewrites redirects to paths of the backend to go through the proxy', () => {
  const check = (location: string, expected: string) => assert.equal(rewrittenLocation(location, seen), expected);
  check('/login?x=/y', `${prefix}/login?x=/y`);
  check('http://10.0.0.1:80/login', `${prefix}/login`);
  check('https://api:6443/login', `${prefix}/login`);
  check('//10.0.0.1:80', `${prefix}/`);
  check('http://10.0.0.1:80?x', `${prefix}/?x`);
  check(`${prefix}/there`, `${prefix}/there`);
  check('login', 'login');
  check('../login', '../login');
  check('', '');
  check('http://example.com/x', 'http://example.com/x');
  check('//example.com/x', '//example.com/x');
  check('http://10.0.0.1:81/x', 'http://10.0.0.1:81/x');
});
