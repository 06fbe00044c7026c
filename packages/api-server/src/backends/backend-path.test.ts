import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodedPath, rawQuery, subpathOf } from './backend-path.ts';

test('encodes paths so that nothing can end the path or the line', () => {
  const check = (path: string, expected: string) => assert.equal(encodedPath(path), expected);
  check('/a b/ü', '/a%20b/%C3%BC');
  check("/a?b#c!'()*[]", '/a%3Fb%23c%21%27%28%29%2A%5B%5D');
  check('/a\r\nHost: x', '/a%0D%0AHost:%20x');
  check('/%2e%2e/$&+,:;=@-_.~', '/%252e%252e/$&+,:;=@-_.~');
});

test('joins the segments of a proxied path without leaving the backend', () => {
  const check = (segments: string[], path: string, expected: string) =>
    assert.equal(subpathOf(segments, path), expected, path);
  check([], '/p/proxy', '');
  check([], '/p/proxy/', '/');
  check(['a', 'b'], '/p/proxy/a/b', '/a/b');
  check(['a', 'b'], '/p/proxy/a/b/', '/a/b/');
  check(['..', '..', 'etc', 'passwd'], '/p/proxy/../../etc/passwd', '/etc/passwd');
  check(['a', '..', '..', '..'], '/p/proxy/a/../../..', '/');
  check(['', '', 'a'], '/p/proxy///a', '/a');
  check(['', 'host', 'a'], '/p/proxy//host/a', '/host/a');
});

test('preserves the query verbatim', () => {
  assert.equal(rawQuery('/x?a=%2F&b=c?d#e'), '?a=%2F&b=c?d');
  assert.equal(rawQuery('/x'), '');
});
