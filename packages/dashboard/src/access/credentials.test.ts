import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { credentialsOf, offeredProtocols, setCookie } from './credentials.ts';

const of = (headers: Record<string, string>) => credentialsOf({ headers } as unknown as IncomingMessage, 8080);

test('the cookie’s name includes the port, as all ports of a host share cookies', () => {
  const cookie = 'podwright-dashboard-8081=other; podwright-dashboard-8080=own; x=y';
  assert.deepEqual(of({ cookie, 'x-podwright-key': 'k' }), { cookie: 'own', key: 'k' });
  assert.deepEqual(of({ cookie: 'podwright-dashboard-8081=other' }), { cookie: '', key: '' });
  assert.deepEqual(of({}), { cookie: '', key: '' });
});

test('a WebSocket sends the key as a subprotocol, which is not forwarded', () => {
  const protocols = 'v5.channel.k8s.io, podwright.key.secret';
  const headers = { upgrade: 'websocket', 'sec-websocket-protocol': protocols };
  assert.equal(of(headers).key, 'secret');
  assert.equal(of({ 'sec-websocket-protocol': protocols }).key, '');
  assert.equal(of({ upgrade: 'websocket', 'x-podwright-key': 'k' }).key, '');
  assert.deepEqual(offeredProtocols({ headers } as unknown as IncomingMessage), ['v5.channel.k8s.io']);
});

test('the cookie is not readable by scripts, and not sent by other sites', () => {
  assert.equal(setCookie(80, 'c'), 'podwright-dashboard-80=c; Path=/; HttpOnly; SameSite=Strict');
  assert.match(setCookie(80, ''), /; Max-Age=0$/);
});
