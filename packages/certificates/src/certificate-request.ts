import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { bitString, contextTag, der, integer, objectIdentifier, sequence, set } from './der.ts';
import { alternativeNames, distinguishedName, OID, pem } from './x509.ts';

/** The identity a certificate is issued for. */
export type CertificateSubject = {
  commonName: string;
  organizations: readonly string[];
  /** DNS names and IP addresses of a server; empty for a client certificate. */
  names: readonly string[];
};

/**
 * Returns the subject of a node's certificates: user `system:node:NAME`, group `system:nodes`. The Node authorizer identifies nodes by
 * these names.
 */
export function nodeSubject(nodeName: string, names: readonly string[] = []): CertificateSubject {
  return { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'], names };
}

/** Returns a PEM-encoded certificate signing request (PKCS#10, RFC 2986) for a P-256 key, signed with that key. */
export function certificateRequest({ commonName, organizations, names }: CertificateSubject, key: KeyObject): string {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const extensions = sequence(objectIdentifier(OID.extensionRequest), set(sequence(alternativeNames(names))));
  const body = sequence(
    integer(Buffer.from([0])), // version 1
    distinguishedName({ commonName, organizations }),
    publicKey,
    der(contextTag(0), names.length === 0 ? Buffer.alloc(0) : extensions), // attributes
  );
  const signature = bitString(sign('sha256', body, key));
  return pem('CERTIFICATE REQUEST', sequence(body, sequence(objectIdentifier(OID.ecdsaSha256)), signature));
}
