/** The TCP listener of the CRI server, with certificates from a real authority. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runChecked, silentLogger } from '@podwright/base';
import { type ClientTls, connectCri, createCriServer } from '@podwright/cri';

const directory = mkdtempSync(join(tmpdir(), 'podwright-tls-'));
after(() => rmSync(directory, { recursive: true }));

const file = (name: string) => join(directory, name);
const openssl = (...args: string[]) => runChecked('openssl', args, { cwd: directory });

/** An authority in `name.crt` and `name.key`. */
async function makeAuthority(name: string): Promise<void> {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
  await openssl('req', '-x509', ...key, '-out', `${name}.crt`, '-subj', `/CN=${name}`, '-days', '1');
}

/** A certificate for 127.0.0.1 in `name.crt` and `name.key`. */
async function makeCertificate(name: string, authority: string): Promise<{ certificate: Buffer; key: Buffer }> {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
  const names = ['-addext', 'subjectAltName=IP:127.0.0.1', '-subj', `/CN=${name}`];
  await openssl('req', ...key, '-out', `${name}.csr`, ...names);
  const by = ['-CA', `${authority}.crt`, '-CAkey', `${authority}.key`, '-CAcreateserial'];
  await openssl(
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    ...by,
    '-copy_extensions',
    'copy',
    '-out',
    `${name}.crt`,
    '-days',
    '1',
  );
  return { certificate: readFileSync(file(`${name}.crt`)), key: readFileSync(file(`${name}.key`)) };
}

test('only clients with a certificate of the authority are let in over TCP', async (t) => {
  await makeAuthority('authority');
  await makeAuthority('stranger');
  const own = await makeCertificate('server', 'authority');
  const friend = await makeCertificate('friend', 'authority');
  const enemy = await makeCertificate('enemy', 'stranger');
  const ca = readFileSync(file('authority.crt'));
  const server = await createCriServer({
    socket: file('cri.sock'),
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
