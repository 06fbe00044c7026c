import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerHeaders, dataType, forwardedHeaders } from './forwarded-headers.ts';

test('the browser’s credentials, cookies, hop-by-hop and impersonation headers are not forwarded', () => {
  const kept = { accept: 'application/json', 'content-type': 'application/json', 'if-match': 'x' };
  const dropped = {
    ...{
      authorization: 'Bearer x',
      cookie: 'a=b',
      connection: 'close',
      'transfer-encoding': 'chunked',
      te: 'trailers',
    },
    ...{ 'impersonate-user': 'admin', 'x-remote-user': 'admin', 'x-podwright-key': 'k', 'proxy-authorization': 'x' },
    ...{ host: 'h', origin: 'o', referer: 'r', 'x-forwarded-for': '1', upgrade: 'h2c', 'content-length': '5' },
  };
  const { 'user-agent': agent, ...headers } = forwardedHeaders({ ...kept, ...dropped });
  assert.deepEqual(headers, kept);
  assert.match(agent!, /^podwright-dashboard\//);
});

test('the API server’s cookies, redirects and policies are not forwarded', () => {
  const headers = answerHeaders({
    ...{ 'set-cookie': ['a=b'], location: '/x', 'content-security-policy': 'x', 'access-control-allow-origin': '*' },
    ...{ 'content-type': 'application/json', 'content-encoding': 'gzip', 'content-length': '5', refresh: '0' },
  });
  assert.deepEqual(headers, {
    ...{ 'content-type': 'application/json', 'content-encoding': 'gzip', 'cache-control': 'no-store' },
  });
});

test('types that a browser would display as a document become plain text', () => {
  for (const type of [
    'application/json',
    'application/json;stream=watch',
    'application/json; charset=utf-8',
    'application/com.github.proto-openapi.spec.v3.v1.0+json',
    'application/vnd.kubernetes.protobuf',
    'application/yaml',
    'text/plain; charset=utf-8',
  ])
    assert.equal(dataType(type), type);
  for (const type of [
    'text/html',
    'image/svg+xml',
    'application/xhtml+xml',
    'text/xml',
    'text/javascript',
    '',
    'text/plainx',
    undefined,
  ])
    assert.equal(dataType(type), 'text/plain; charset=utf-8', type);
});
