import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { PodwrightError, wrapError } from '@podwright/base';
import type { CertificateSubject } from './certificate-request.ts';
import { MAX_CERTIFICATE_BYTES } from './limits.ts';

/** A certificate (followed by its chain) and its private key, both in PEM format. */
export type CertificatePair = { certificate: string; key: string };

/** Parsed fields of a certificate. Times are in Unix milliseconds. */
export type CertificateFacts = {
  commonName: string;
  organizations: readonly string[];
  notBeforeMs: number;
  notAfterMs: number;
  /** Whether the certificate is valid for this DNS name or IP address. */
  isFor: (name: string) => boolean;
};

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * Validates a certificate and its key, and returns the certificate's fields. Throws `invalid_argument` if the certificate is invalid or too
 * large, or if the key does not match.
 */
export function readPair(what: string, { certificate, key }: CertificatePair): CertificateFacts {
  const leaf = certificatesIn(what, certificate)[0]!;
  try {
    if (!leaf.checkPrivateKey(createPrivateKey(key)))
      throw new PodwrightError('invalid_argument', 'the certificate is for another key');
  } catch (error) {
    throw wrapError(what, error, 'invalid_argument');
  }
  return factsOf(leaf);
}

/** Parses the certificates in a PEM bundle, leaf first. Throws `invalid_argument` if there are none or any is invalid. */
export function certificatesIn(what: string, text: string): X509Certificate[] {
  if (text.length > MAX_CERTIFICATE_BYTES)
    throw new PodwrightError('invalid_argument', `${what}: more than ${MAX_CERTIFICATE_BYTES} bytes of certificates`);
  const found = text.match(CERTIFICATE) ?? [];
  if (found.length === 0) throw new PodwrightError('invalid_argument', `${what}: there is no certificate`);
  try {
    return found.map((one) => new X509Certificate(one));
  } catch (error) {
    throw wrapError(what, error, 'invalid_argument');
  }
}

export function factsOf(certificate: X509Certificate): CertificateFacts {
  return {
    commonName: partsOf(certificate.subject, 'CN').at(-1) ?? '',
    organizations: partsOf(certificate.subject, 'O'),
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
    isFor: (name) =>
      (isIP(name) === 0 ? certificate.checkHost(name, { subject: 'never' }) : certificate.checkIP(name)) !== undefined,
  };
}

/**
 * Extracts the attributes of one type from a subject as formatted by Node.js: one attribute per line; those of a multi-valued RDN share a
 * line, joined by plus signs.
 */
const partsOf = (subject: string, type: string) =>
  (subject ?? '').split(/\n| \+ /).flatMap((line) => (line.startsWith(`${type}=`) ? line.slice(type.length + 1) : []));

/** Whether a certificate has the requested subject and names. Additional organizations and names are fine. */
export function satisfies(facts: CertificateFacts, { commonName, organizations, names }: CertificateSubject): boolean {
  return (
    facts.commonName === commonName &&
    organizations.every((organization) => facts.organizations.includes(organization)) &&
    names.every(facts.isFor)
  );
}
