import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import {
  alternativeNames,
  bitString,
  der,
  ECDSA_SHA256,
  integer,
  nameAttribute,
  oid,
  pem,
  sequence,
  set,
} from './der.ts';

/** Whom a certificate is to be for. */
export type CertificateSubject = {
  commonName: string;
  organizations: readonly string[];
  /** DNS names and IP addresses under which a server is called; none for a client. */
  names: readonly string[];
};

/** What of a node asks for certificates (RBAC's Node authorizer: user `system:node:NAME`, group `system:nodes`). */
export function nodeSubject(nodeName: string, names: readonly string[] = []): CertificateSubject {
  return { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'], names };
}

/** A request for a certificate (PKCS#10, RFC 2986), PEM, signed with the P-256 key that it is for. */
export function certificateRequest({ commonName, organizations, names }: CertificateSubject, key: KeyObject): string {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const extensions = sequence(oid('1.2.840.113549.1.9.14'), set(sequence(alternativeNames(names))));
  const body = sequence(
    integer(Buffer.from([0])), // version 1
    sequence(
      ...organizations.map((organization) => nameAttribute('2.5.4.10', organization)),
      nameAttribute('2.5.4.3', commonName),
    ),
    publicKey,
    der(0xa0, names.length === 0 ? Buffer.alloc(0) : extensions), // attributes
  );
  const signature = bitString(sign('sha256', body, key));
  return pem('CERTIFICATE REQUEST', sequence(body, sequence(oid(ECDSA_SHA256)), signature));
}
