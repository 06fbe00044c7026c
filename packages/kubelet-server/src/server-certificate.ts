import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, isShortage, makePrivateDirectory, PodwrightError, wrapError } from '@podwright/base';
import { type CertificatePair, readPair, selfSignedCertificate } from '@podwright/certificates';
import { writeFileDurable } from '@podwright/host';
import type { ServerTls } from '@podwright/kubelet-configuration';
import { SELF_SIGNED_CERTIFICATE_MS } from './limits.ts';

/**
 * Inputs for creating a self-signed certificate: the node's name, the names and addresses that the certificate must cover, and the default
 * directory to store it in.
 */
export type CertificateOwner = { nodeName: string; names: () => string[]; directory: string };

/** A self-signed certificate is replaced once less than this fraction of its validity period remains. */
const REMAINING_SHARE = 0.1;

/**
 * Returns the server's certificate and key in PEM format: the configured pair or, if none is configured, a self-signed pair. A self-signed
 * pair is created if there is none, if it is about to expire, or if it does not cover all of the node's names. If its files have been
 * deleted or could not be written, the `served` pair remains in use. Throws if a configured file cannot be read or the key does not match
 * the certificate.
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
  const existing = await readFiles(files).catch(() => served);
  const now = Date.now();
  if (existing !== undefined && isUsable(existing, owner, now)) return existing;
  const made = selfSignedCertificate({
    commonName: `${owner.nodeName}@${Math.floor(now / 1000)}`,
    names: owner.names(),
    notBefore: new Date(now - 3_600_000), // clients' clocks may be behind
    notAfter: new Date(now + SELF_SIGNED_CERTIFICATE_MS),
  });
  try {
    makePrivateDirectory(directory);
    await writeFileDurable(files.key, made.key);
    await writeFileDurable(files.certificate, made.certificate);
  } catch (error) {
    if (!isShortage(error)) throw error; // a full disk must not prevent the kubelet from starting
  }
  return made;
}

/** Returns the default value of `certDirectory`. */
export const certificateDirectory = (rootDir: string) => join(rootDir, 'pki');

/** Returns the paths of the self-signed certificate and its key. */
export function ownCertificateFiles({ certDirectory }: ServerTls, byDefault: string) {
  const directory = certDirectory ?? byDefault;
  return { directory, certificate: join(directory, 'kubelet.crt'), key: join(directory, 'kubelet.key') };
}

async function givenCertificate(certFile: string, keyFile: string): Promise<CertificatePair> {
  const what = `read the server's certificate ${certFile} with the key ${keyFile}`;
  try {
    const pair = await readFiles({ certificate: certFile, key: keyFile });
    if (!new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key)))
      throw new PodwrightError('invalid_argument', 'the key does not match the certificate');
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
