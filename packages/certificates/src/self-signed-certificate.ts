import { generateKeyPairSync, sign } from 'node:crypto';
import type { CertificatePair } from './certificate-pair.ts';
import { bitString, contextTag, der, integer, objectIdentifier, sequence, TRUE, time } from './der.ts';
import { alternativeNames, distinguishedName, extendedKeyUsage, extension, OID, pem, serialNumber } from './x509.ts';

type SelfSignedSubject = {
  commonName: string;
  /** DNS names and IP addresses of the server. */
  names: string[];
  notBefore: Date;
  notAfter: Date;
};

/** Creates a self-signed certificate (RFC 5280) and its key. Clients trust the server if they use the certificate as a CA. */
export function selfSignedCertificate({ commonName, names, notBefore, notAfter }: SelfSignedSubject): CertificatePair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(objectIdentifier(OID.ecdsaSha256));
  const name = distinguishedName({ commonName });
  const body = sequence(
    der(contextTag(0), integer(Buffer.from([2]))), // version 3
    integer(serialNumber()),
    algorithm,
    name,
    sequence(time(notBefore), time(notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(contextTag(3), sequence(...extensions(names))),
  );
  const signature = sign('sha256', body, privateKey);
  return {
    certificate: pem('CERTIFICATE', sequence(body, algorithm, bitString(signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

/** The key usages digitalSignature and keyCertSign as a bit string, whose lowest two bits are unused. */
const KEY_USAGE = bitString(Buffer.from([0b1000_0100]), 2);

function extensions(names: string[]): Buffer[] {
  return [
    extension(OID.basicConstraints, sequence(TRUE), true), // an authority
    extension(OID.keyUsage, KEY_USAGE, true),
    extendedKeyUsage(OID.serverAuth),
    alternativeNames(names),
  ];
}
