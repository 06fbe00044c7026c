import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { type Admission, withAdmission } from './admission.ts';
import { sendText } from './api-route.ts';
import type { HttpListener } from './http/http-listener.ts';

const API: HttpListener = {
  upgrades: () => true,
  handle: (_request, response) => sendText(response, 200, 'ok'),
  upgrade: (_request, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
};
const KNOWN: Admission = {
  userOf: async () => ({ name: 'a', groups: [] }),
  refusalOf: undefined,
  onAllowed: () => undefined,
  logger: silentLogger,
};

/**
 * Sends a plain request and an upgrade request through admission. Returns their response statuses, or `ended` if the server closed the
 * connection.
 */
async function answers(t: TestContext, api: HttpListener, admission: Partial<Admission>): Promise<unknown[]> {
  const listener = withAdmission(api, { ...KNOWN, ...admission });
  const server = createServer((request, response) => listener.handle(request, response));
  server.on('upgrade', (request, socket, head) => listener.upgrade(request, socket, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { request } = await import('node:http');
  const ask = async (headers: Record<string, string>) => {
    const outgoing = request(url, { headers, agent: false }).end();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    outgoing.on('error', () => resolve('ended'));
    for (const event of ['response', 'upgrade'])
      outgoing.on(event, (response) => {
        response.socket.destroy();
        resolve(response.statusCode);
      });
    return promise;
  };
  return [await ask({}), await ask({ connection: 'upgrade', upgrade: 'x' })];
}

test('a failed authentication, authorization or handler ends only the request', async (t) => {
  const fail = async () => {
    throw new Error('broken');
  };
  const failNow = () => {
    throw new Error('broken');
  };
  assert.deepEqual(await answers(t, API, {}), [200, 101]);
  assert.deepEqual(await answers(t, API, { userOf: async () => undefined }), [401, 401]);
  assert.deepEqual(await answers(t, API, { userOf: fail }), [500, 500]);
  assert.deepEqual(await answers(t, API, { refusalOf: fail }), [500, 500]);
  assert.deepEqual(await answers(t, { ...API, handle: failNow, upgrade: failNow }, {}), ['ended', 'ended']);
});
