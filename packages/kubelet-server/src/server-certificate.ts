import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, makePrivateDirectory, PodwrightError, wrapError, writeFileDurable } from '@podwright/base';
import { type CertificatePair, readPair, selfSignedCertificate } from '@podwright/certificates';
import type { ServerTls } from '@podwright/kubelet-configuration';
import { OWN_CERTIFICATE_MS } from './limits.ts';

/** Names and addresses that a certificate of our own is made for, and where it is kept if the options do not say. */
export type CertificateOwner = { nodeName: string; names: () => string[]; directory: string };

/** Of its life, as much is left when a certificate of our own is replaced. */
const REMAINING_SHARE = 0.1;

/**
 * The server's certificate and key, PEM: those of the options, or our own, which is made when there is none, it is about to expire,
 * or the node's addresses have changed. One that is `served` already goes on without its files. Throws for files that are not there or do not belong together.
 */
export async function serverCertificate(
  tls: ServerTls,
  owner: CertificateOwner,
  served?: CertificatePair,
): Promise<CertificatePair> {
  const { certFile, privateKeyFile } = tls;
  if ((certFile === undefined) !== (privateKeyFile === undefined))
    throw new PodwrightError('invalid_argument', 'tlsCertFile and tlsPrivateKeyFile: both or neither must be given');
  if (certFile !== undefined) return givenCertificate(certFile, privateKeyFile!);
  const { directory, ...files } = ownCertificateFiles(tls, owner.directory);
  const kept = await readFiles(files).catch(() => served);
  const now = Date.now();
  if (kept !== undefined && isUsable(kept, owner, now)) return kept;
  const made = selfSignedCertificate({
    commonName: `${owner.nodeName}@${Math.floor(now / 1000)}`,
    names: owner.names(),
    notBefore: new Date(now - 3_600_000), // clocks differ
    notAfter: new Date(now + OWN_CERTIFICATE_MS),
  });
  makePrivateDirectory(directory);
  await writeFileDurable(files.key, made.key);
  await writeFileDurable(files.certificate, made.certificate);
  return made;
}

/** Where certificates are, unless `certDirectory` says where. */
export const certificateDirectory = (rootDir: string) => join(rootDir, 'pki');

/** Where the certificate is that the kubelet makes if it is given none. */
export function ownCertificateFiles({ certDirectory }: ServerTls, byDefault: string) {
  const directory = certDirectory ?? byDefault;
  return { directory, certificate: join(directory, 'kubelet.crt'), key: join(directory, 'kubelet.key') };
}

async function givenCertificate(certFile: string, keyFile: string): Promise<CertificatePair> {
  const what = `read the server's certificate ${certFile} with the key ${keyFile}`;
  try {
    const pair = await readFiles({ certificate: certFile, key: keyFile });
    if (!new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key)))
      throw new PodwrightError('invalid_argument', 'the key is not that of the certificate');
    return pair;
  } catch (error) {
    throw isErrno(error, 'ENOENT') ? wrapError(what, error, 'not_found') : wrapError(what, error, 'invalid_argument');
  }
}

async function readFiles(files: { certificate: string; key: string }): Promise<CertificatePair> {
  const [certificate, key] = await Promise.all([readFile(files.certificate, 'utf8'), readFile(files.key, 'utf8')]);
  return { certificate, key };
}

function isUsable(pair: CertificatePair, { names }: CertificateOwner, nowMs: number): boolean {
  const { notBeforeMs: from, notAfterMs: to, isFor } = readPair("read the kubelet's own certificate", pair);
  return from <= nowMs && nowMs < to - (to - from) * REMAINING_SHARE && names().every(isFor);
}
