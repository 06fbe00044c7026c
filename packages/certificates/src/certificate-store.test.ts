import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import {
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { certificateRequest, nodeSubject } from './certificate-request.ts';
import { CertificateStore } from './certificate-store.ts';
import { TestAuthority } from './cluster-signer.fixture.ts';

const scratch = mkdtempSync(join(tmpdir(), 'pwk-certificates-'));
after(() => rmSync(scratch, { recursive: true }));
const authority = new TestAuthority();
const AT = new Date(2026, 10, 3, 4, 5, 6);

function pairFor(nodeName: string) {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ type: 'sec1', format: 'pem' }) as string;
  return { certificate: authority.sign(certificateRequest(nodeSubject(nodeName), privateKey)), key };
}

function storeIn(name: string): { store: CertificateStore; directory: string } {
  const directory = join(scratch, name);
  return { store: new CertificateStore(directory, 'kubelet-client'), directory };
}

test('a pair is stored in upstream’s layout, readable only by its owner', async () => {
  const { store, directory } = storeIn('kept');
  assert.equal(await store.current(), undefined);
  await store.update(pairFor('a'), AT);
  const file = join(directory, 'kubelet-client-2026-11-03-04-05-06.pem');
  assert.equal(readlinkSync(join(directory, 'kubelet-client-current.pem')), file);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal((await store.current())?.commonName, 'system:node:a');
  await store.update(pairFor('b'));
  assert.equal((await store.current())?.commonName, 'system:node:b');
  assert.equal(readdirSync(directory).length, 3);
});

test('a certificate with a different key, or none, changes nothing', async () => {
  const { store } = storeIn('broken');
  await store.update(pairFor('a'));
  const wrong = { certificate: pairFor('b').certificate, key: pairFor('c').key };
  await assert.rejects(store.update(wrong), /the certificate is for another key/);
  await assert.rejects(store.update({ certificate: 'x', key: 'y' }), /there is no certificate/);
  assert.equal((await store.current())?.commonName, 'system:node:a');
});

test('being killed at any step leaves the old or the new pair', async () => {
  const { store, directory } = storeIn('ended');
  await store.update(pairFor('a'), AT);
  const link = join(directory, 'kubelet-client-current.pem');
  const updated = join(directory, 'kubelet-client-updated.pem');
  writeFileSync(join(directory, 'kubelet-client-2027-01-01-00-00-00.pem.tmp'), 'half of a pa');
  writeFileSync(join(directory, 'kubelet-client.key.tmp.0123456789ab.tmp'), 'half of a ke');
  writeFileSync(join(directory, 'kubelet-client.key.tmp'), 'of a request');
  writeFileSync(join(directory, 'kubelet-server-2027-01-01-00-00-00.pem.tmp'), 'of the server');
  symlinkSync(join(directory, 'none.pem'), updated);
  assert.equal((await store.current())?.commonName, 'system:node:a');
  const left = readdirSync(directory).filter((name) => name.includes('.tmp'));
  assert.deepEqual(left.sort(), ['kubelet-client.key.tmp', 'kubelet-server-2027-01-01-00-00-00.pem.tmp']);
  await store.update(pairFor('b'), new Date(2027, 0, 1));
  assert.equal((await store.current())?.commonName, 'system:node:b');
  renameSync(link, updated); // where upstream's kubelet may have been killed
  assert.equal((await store.current())?.commonName, 'system:node:b');
  assert.equal(readlinkSync(link), join(directory, 'kubelet-client-2027-01-01-00-00-00.pem'));
});

test('an invalid file is an error with its path, and a regular file in place of the link is not replaced', async () => {
  const { store, directory } = storeIn('file');
  await store.update(pairFor('a'), AT);
  rmSync(join(directory, 'kubelet-client-current.pem'));
  writeFileSync(join(directory, 'kubelet-client-current.pem'), 'nonsense');
  await assert.rejects(store.current(), /kubelet-client-current.pem: there is no certificate/);
  await assert.rejects(store.update(pairFor('b')), /is a file, not a link; remove it/);
});
