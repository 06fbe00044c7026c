import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { requestProblem } from './request-guard.ts';

const HOST = '127.0.0.1:8080';
const ORIGIN = `http://${HOST}`;

/** Checks whether a request that would be accepted is still accepted with these changes. Headers set to `undefined` are removed. */
function check(isAccepted: boolean, changes: { method?: string; url?: string; headers?: Record<string, unknown> }) {
  const { method = 'GET', url = '/api/v1/pods', headers: given = {} } = changes;
  const headers = Object.fromEntries(
    Object.entries({ host: HOST, ...given }).filter(([, value]) => value !== undefined),
  );
  const headersDistinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]));
  const refusal = requestProblem({ method, url, headers, headersDistinct } as unknown as IncomingMessage, '127.0.0.1');
  assert.equal(refusal === undefined, isAccepted, `${JSON.stringify(changes)}: ${refusal}`);
}

test('a request must have this server as its only Host', () => {
  check(true, {});
  check(true, { headers: { host: 'localhost:9000' } });
  check(false, { headers: { host: undefined } });
  check(false, { headers: { host: 'attacker.example:8080' } });
  check(false, { headers: { host: [HOST, 'attacker.example'] } });
});

test('a request from a page of another origin is refused', () => {
  check(true, { headers: { origin: ORIGIN } });
  check(true, { headers: { host: 'localhost:9000', origin: 'http://localhost:9000' } });
  for (const origin of [
    'http://attacker.example',
    'null',
    'https://127.0.0.1:8080',
    'http://127.0.0.1:8081',
    'http://127.0.0.1',
    'http://localhost:8080',
    [ORIGIN, 'http://attacker.example'],
    '',
  ])
    check(false, { headers: { origin } });
});

test('WebSockets, and requests that could change something, must have an Origin', () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    check(false, { method });
    check(true, { method, headers: { origin: ORIGIN } });
  }
  check(false, { headers: { upgrade: 'websocket' } });
  check(true, { headers: { upgrade: 'websocket', origin: ORIGIN } });
  for (const method of ['OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND'])
    check(false, { method, headers: { origin: ORIGIN } });
});

test('cross-site requests are rejected, except for a link that opens the document', () => {
  const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  for (const site of ['cross-site', 'same-site', 'none']) {
    check(false, { headers: { 'sec-fetch-site': site } });
    check(false, { headers: { 'sec-fetch-site': site, ...navigation } });
    check(true, { url: '/', headers: { 'sec-fetch-site': site, ...navigation } });
    for (const frame of ['iframe', 'frame', 'object', 'embed'])
      check(false, { url: '/', headers: { 'sec-fetch-site': site, ...navigation, 'sec-fetch-dest': frame } });
  }
  check(true, { headers: { 'sec-fetch-site': 'same-origin' } });
});

test('a request target must be a path', () => {
  for (const url of ['http://attacker.example/', '//attacker.example/', '*', '', 'api']) check(false, { url });
  check(true, { url: `/${'a'.repeat(8000)}` });
  check(false, { url: `/${'a'.repeat(8 << 10)}` });
});
