/** The CRI server's TCP listener, with certificates issued by a real CA. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { connectCri, createCriServer } from '@podwright/cri';
import type { ClientTls } from '@podwright/grpc';
import { Certificates } from '../fixtures/certificates.ts';

const directory = mkdtempSync(join(tmpdir(), 'podwright-tls-'));
after(() => rmSync(directory, { recursive: true }));

const certificates = new Certificates(directory);

test('over TCP only clients with a certificate signed by the CA are accepted', async (t) => {
  await certificates.makeAuthority('authority');
  await certificates.makeAuthority('stranger');
  const own = await certificates.make('server', 'authority');
  const friend = await certificates.make('friend', 'authority');
  const enemy = await certificates.make('enemy', 'stranger');
  const ca = certificates.read('authority.crt');
  const server = await createCriServer({
    socket: certificates.path('cri.sock'),
    tcp: { address: '127.0.0.1', port: 0, tls: { ...own, clientCa: ca } },
    handlers: { runtime: { version: async () => ({ version: '0.1.0', runtimeName: 'over TCP' }) }, image: {} },
    logger: silentLogger,
  });
  t.after(() => server.close(0));
  const runtimeEndpoint = `tcp://127.0.0.1:${server.tcpPort}`;
  const connect = (tls?: ClientTls) =>
    connectCri({ runtimeEndpoint, tls, logger: silentLogger, connectTimeoutMs: 300 });

  const client = await connect({ ca, ...friend });
  assert.equal((await client.runtime.version({})).runtimeName, 'over TCP');
  client.close();
  const refused = { code: 'unavailable' };
  await assert.rejects(connect({ ca, ...enemy }), refused);
  await assert.rejects(connect({ ca }), refused);
  await assert.rejects(connect({ ...friend }), refused, 'the client does not trust the server');
  await assert.rejects(connect(), refused, 'plain text');
});
