import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handlerUrl, portOf, redirectUrl, requestTarget, urlText } from './call-url.ts';

/** Test cases from Go 1.26: a handler's path, the request target, and the part of the URL after the port as shown in messages. */
const HANDLERS = [
  ['/', '/', '/'],
  ['ok?a=b', '/ok?a=b', '/ok?a=b'],
  ['/a/../b', '/a/../b', '/a/../b'],
  ['/a/%2e%2e/b', '/a/%2e%2e/b', '/a/%2e%2e/b'],
  ['/a\\\\b', '/a%5C%5Cb', '/a%5C%5Cb'],
  ['/a|b', '/a%7Cb', '/a%7Cb'],
  ['/a|b%2Fc', '/a%7Cb/c', '/a%7Cb/c'],
  ['/a%zz?x#y', '/a%25zz%3Fx%23y', '/a%25zz%3Fx%23y'],
  ['//a/b', '/b', '/b'],
  ['http://evil/foo', '/foo', '/foo'],
  ['http://evil', '/', ''],
  ['/a b', '/a%20b', '/a%20b'],
  ['/ü', '/%C3%BC', '/%C3%BC'],
  ["/a'()*[x]!", "/a'()*[x]!", "/a'()*[x]!"],
  ['/a"<>`{}^', '/a%22%3C%3E%60%7B%7D%5E', '/a%22%3C%3E%60%7B%7D%5E'],
  ['/a?', '/a?', '/a?'],
  ['/a??', '/a??', '/a??'],
  ['/a?b#f g', '/a?b', '/a?b#f%20g'],
  ['/a#%zz', '/a%23%25zz', '/a%23%25zz'],
  ['1a:b', '/1a:b', '/1a:b'],
  ['//a[/b', '//a%5B/b', '//a%5B/b'],
  ['///a/b', '///a/b', '///a/b'],
  ['*', '/*', '/*'],
  ['/a\tb', '/a%09b', '/a%09b'],
  ['/a\r\nHost: b', '/a%0D%0AHost:%20b', '/a%0D%0AHost:%20b'],
  ['?q', '/?q', '?q'],
  ['/%41', '/%41', '/%41'],
  ['//a b/c', '//a%20b/c', '//a%20b/c'],
  ['//a:x/c', '//a:x/c', '//a:x/c'],
  ['/a;b,c=d@e$&+~', '/a;b,c=d@e$&+~', '/a;b,c=d@e$&+~'],
  // Go sends these bytes unescaped, which servers reject
  ['/a?x y=ü', '/a?x%20y=%C3%BC', '/a?x%20y=%C3%BC'],
] as const;

test('a handler path is escaped like in Go', () => {
  for (const [path, target, shown] of HANDLERS) {
    const url = handlerUrl({ scheme: 'http', host: '127.0.0.1:80' }, path)!;
    assert.equal(requestTarget(url), target, path);
    assert.equal(urlText(url), `http://127.0.0.1:80${shown}`, path);
  }
});

test('an invalid host yields no URL, and a path with a scheme but no slashes yields no host', () => {
  assert.equal(handlerUrl({ scheme: 'http', host: 'a b:80' }, '/'), undefined);
  assert.equal(handlerUrl({ scheme: 'http', host: 'a/b:80' }, '/'), undefined);
  const opaque = handlerUrl({ scheme: 'http', host: '127.0.0.1:80' }, 'a:b')!;
  assert.deepEqual([opaque.host, urlText(opaque)], ['', 'http:b']);
  assert.equal(urlText(handlerUrl({ scheme: 'http', host: '[::1]:80' }, '/')!), 'http://[::1]:80/');
});

/** A Location header, and the URL to which it resolves from http://h:80/a/b/c?q#f. */
const REDIRECTS = [
  ['d', 'http://h:80/a/b/d'],
  ['../d', 'http://h:80/a/d'],
  ['/x/../y', 'http://h:80/y'],
  ['./', 'http://h:80/a/b/'],
  ['..', 'http://h:80/a/'],
  ['../../../../x', 'http://h:80/x'],
  ['../../..', 'http://h:80/'],
  ['.', 'http://h:80/a/b/'],
  ['?z', 'http://h:80/a/b/c?z'],
  ['?', 'http://h:80/a/b/c?'],
  ['#g', 'http://h:80/a/b/c?q#g'],
  ['/..', 'http://h:80/'],
  ['/x/..', 'http://h:80/'],
  ['/x//..', 'http://h:80/x/'],
  ['/a/b/../..//', 'http://h:80/'],
  ['..//..', 'http://h:80/a/'],
  ['/a/..//c', 'http://h:80/c'],
  ['/a/.././/c', 'http://h:80//c'],
  ['//h:81/p', 'http://h:81/p'],
  ['//h', 'http://h'],
  ['http://h', 'http://h'],
  ['http://h/../x/./y', 'http://h/x/y'],
  ['https://h:80//a//b/..', 'https://h:80//a//'],
  ['file://h/etc', 'file://h/etc'],
  ['/a|b', 'http://h:80/a%7Cb'],
  ['HTTP://h/A', 'http://h/A'],
  ['/a//b/../..//c', 'http://h:80/a//c'],
  ['http://h:80?x', 'http://h:80?x'],
  ['http://u:p@h:80/z', 'http://h:80/z'],
] as const;

test('a redirect resolves to the same URL as in Go', () => {
  const from = handlerUrl({ scheme: 'http', host: 'h:80' }, '/a/b/c?q#f')!;
  for (const [location, expected] of REDIRECTS) {
    const { url, isAbsolute } = redirectUrl(location, from)!;
    assert.equal(urlText(url), expected, location);
    assert.equal(isAbsolute, /^[a-z]+:/i.test(location), location);
  }
  for (const location of ['/%zz', 'http://a b/', '//h:x/', '1:2', '/a\tb', 'http://h:65536/'])
    assert.equal(redirectUrl(location, from), undefined, location);
  for (const location of ['mailto:x', 'd:e', 'http:///x']) assert.equal(redirectUrl(location, from)!.url.host, '');
  assert.equal(portOf(redirectUrl('https://h:/', from)!.url), 443);
});
