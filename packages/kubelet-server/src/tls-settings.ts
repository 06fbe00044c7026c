import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { getCiphers, type SecureVersion, type TlsOptions } from 'node:tls';
import { didYouMean, PodwrightError, wrapError } from '@podwright/base';
import type { CertificatePair } from '@podwright/certificates';
import { CIPHER_SUITES, type KubeletServerOptions, type TlsVersion } from '@podwright/kubelet-configuration';
import { REQUEST_HEAD_TIMEOUT_MS } from './limits.ts';

const VERSIONS: Record<TlsVersion, SecureVersion> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

/** The TLS 1.3 cipher suites, which are always enabled, as in Go. */
const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/**
 * Returns the HTTPS server's TLS settings. Throws `invalid_argument` if an option is invalid, or another error if the client CAs cannot be
 * read.
 */
export async function tlsSettings(
  { tls, authentication }: Pick<KubeletServerOptions, 'tls' | 'authentication'>,
  { certificate, key }: CertificatePair,
): Promise<TlsOptions> {
  const minVersion = VERSIONS[tls.minVersion];
  if (minVersion === undefined)
    throw new PodwrightError(
      'invalid_argument',
      `tlsMinVersion: "${tls.minVersion}" is not one of ${Object.keys(VERSIONS).join(', ')}`,
    );
  const authorities = authentication.clientCaFile && (await readAuthorities(authentication.clientCaFile));
  return {
    cert: certificate,
    key,
    minVersion,
    ciphers: cipherList(tls),
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: REQUEST_HEAD_TIMEOUT_MS,
    ...(authorities && { ca: authorities, requestCert: true, rejectUnauthorized: false }),
  };
}

async function readAuthorities(path: string): Promise<string> {
  const what = `read the client CAs in ${path}`;
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw wrapError(what, error);
  });
  const certificates = text.split(/(?=-----BEGIN CERTIFICATE-----)/).filter((part) => part.startsWith('-----BEGIN'));
  if (certificates.length === 0) throw new PodwrightError('invalid_argument', `${what}: it has no certificate`);
  for (const [index, certificate] of certificates.entries())
    checkCertificate(certificate, `${what}: number ${index + 1}`);
  return text;
}

/** Rejects a malformed certificate, which OpenSSL would silently ignore. */
function checkCertificate(pem: string, what: string): void {
  try {
    new X509Certificate(pem);
  } catch (error) {
    throw wrapError(what, error, 'invalid_argument');
  }
}

/** Returns the cipher suites in OpenSSL syntax, or `undefined` for Node.js' default. */
function cipherList({ cipherSuites, minVersion }: KubeletServerOptions['tls']): string | undefined {
  const isOld = minVersion === 'VersionTLS10' || minVersion === 'VersionTLS11';
  if (cipherSuites.length === 0) return isOld ? 'DEFAULT:@SECLEVEL=0' : undefined;
  const chosen = [...TLS13_SUITES, ...cipherSuites.filter((name) => !TLS13_SUITES.includes(name)).map(opensslName)];
  return [...chosen, ...(isOld ? ['@SECLEVEL=0'] : [])].join(':');
}

/** Returns OpenSSL's name for a cipher suite. Throws `invalid_argument` if the suite is unknown or not supported by this host's OpenSSL. */
export function opensslName(name: string): string {
  const known = Object.hasOwn(CIPHER_SUITES, name) ? CIPHER_SUITES[name]! : undefined;
  if (known !== undefined && getCiphers().includes(known.toLowerCase())) return known;
  throw new PodwrightError(
    'invalid_argument',
    `tlsCipherSuites: "${name.slice(0, 100)}" is not a cipher suite that this host has${didYouMean(name, Object.keys(CIPHER_SUITES))}`,
  );
}
