/** Issues the CA's certificates (RFC 5280). Supports only ECDSA signing keys. */
import { createHash, type KeyObject, sign } from 'node:crypto';
import {
  bitString,
  contextTag,
  der,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  time,
} from '@podwright/certificates/der';
import { distinguishedName, extension, OID, pem, serialNumber } from '@podwright/certificates/x509';

export type Subject = { commonName: string; organizations?: readonly string[] };

/** The name and keys that sign certificates: those of the CA, or of the subject itself for a self-signed certificate. */
export type Signer = { name: Buffer; privateKey: KeyObject; publicKey: KeyObject };

export type CertificateFields = {
  subject: Subject;
  publicKey: KeyObject;
  extensions: readonly Buffer[];
  notBefore: Date;
  notAfter: Date;
};

/** Returns the certificate as PEM. */
export function issueCertificate(signer: Signer, fields: CertificateFields): string {
  const { subject, publicKey, extensions, notBefore, notAfter } = fields;
  const algorithm = sequence(objectIdentifier(OID.ecdsaSha256));
  const signerKey = sequence(der(contextTag(0, false), keyIdentifier(signer.publicKey)));
  const body = sequence(
    der(contextTag(0), integer(Buffer.from([2]))), // version 3
    integer(serialNumber()),
    algorithm,
    signer.name,
    sequence(time(notBefore), time(notAfter)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(contextTag(3), sequence(...extensions, extension(OID.authorityKeyIdentifier, signerKey))),
  );
  return pem('CERTIFICATE', sequence(body, algorithm, bitString(sign('sha256', body, signer.privateKey))));
}

/** The subjectKeyIdentifier extension, which identifies this key in references from other certificates. */
export const subjectKey = (publicKey: KeyObject): Buffer =>
  extension(OID.subjectKeyIdentifier, octetString(keyIdentifier(publicKey)));

/** Returns the key identifier: the SHA-1 hash of the encoded key. It has no security function. */
function keyIdentifier(key: KeyObject): Buffer {
  const encoded = key.export({ type: 'spki', format: 'der' });
  return createHash('sha1').update(encoded).digest();
}
