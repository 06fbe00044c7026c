import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { errorMessage, gatherBytes, PodwrightError } from '@podwright/base';
import { MAX_CREDENTIAL_FILE_BYTES } from '../limits.ts';
import type { TlsOptions } from '../transport/http-exchange.ts';
import type { Cluster, Material, User } from './parse-kubeconfig.ts';

/** Reads the TLS options. Checks that the certificates and the private key can be parsed and that the key matches the certificate. */
export async function readTls(cluster: Cluster, user: User): Promise<TlsOptions> {
  const { serverName, insecureSkipTlsVerify } = cluster;
  return {
    ...(cluster.ca === undefined ? {} : { ca: await readCertificates(cluster.ca) }),
    ...(await readKeyPair(user)),
    ...(serverName === undefined ? {} : { serverName }),
    insecureSkipTlsVerify,
  };
}

async function readKeyPair({ certificate, key }: User): Promise<{ certificate?: string; key?: string }> {
  if (certificate === undefined || key === undefined) return {};
  const chain = await readCertificates(certificate);
  const pem = await readMaterial(key);
  checkKey(chain, pem, key.field);
  return { certificate: chain, key: pem };
}

/** Checks that a private key matches a certificate. Errors begin with `field`, which must end with a colon. */
export function checkKey(certificate: string, key: string, field: string): void {
  let isOf: boolean;
  try {
    isOf = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    const isEncrypted = /ENCRYPTED/.test(key);
    const why = isEncrypted ? 'it has a passphrase, which is not supported; decrypt it' : errorMessage(error);
    throw invalid(`${field}no private key in PEM: ${why}`);
  }
  if (!isOf) throw invalid(`${field}it is the key of another certificate`);
}

async function readCertificates(material: Material): Promise<string> {
  const text = await readMaterial(material);
  const all = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  if (all === null) throw invalid(`${material.field}it has no PEM certificate`);
  for (const [index, one] of all.entries()) {
    try {
      new X509Certificate(one);
    } catch (error) {
      throw invalid(`${material.field}certificate ${index + 1} of ${all.length}: ${errorMessage(error)}`);
    }
  }
  return text;
}

async function readMaterial(material: Material): Promise<string> {
  if ('data' in material) return material.data.toString('utf8');
  return (await readSmallFile(material.path, material.field)).toString('utf8');
}

/** Reads a credential file. Errors begin with `field`, which must end with a colon. */
export async function readSmallFile(path: string, field = ''): Promise<Buffer> {
  const large = () => invalid(`${field}${path} has more than ${MAX_CREDENTIAL_FILE_BYTES} bytes`);
  try {
    return await gatherBytes(createReadStream(path), MAX_CREDENTIAL_FILE_BYTES, large);
  } catch (error) {
    if (error instanceof PodwrightError) throw error;
    throw new PodwrightError('invalid_argument', `${field}${errorMessage(error)}`, { cause: error });
  }
}

function invalid(message: string): PodwrightError {
  return new PodwrightError('invalid_argument', message);
}
