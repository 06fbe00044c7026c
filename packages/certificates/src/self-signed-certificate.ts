import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { CertificatePair } from './certificate-pair.ts';
import {
  alternativeNames,
  bitString,
  der,
  ECDSA_SHA256,
  integer,
  nameAttribute,
  octets,
  oid,
  pem,
  sequence,
} from './der.ts';

type SelfSignedSubject = {
  commonName: string;
  /** DNS names and IP addresses under which the server is called. */
  names: string[];
  notBefore: Date;
  notAfter: Date;
};

/** A certificate that signs itself (RFC 5280): whoever has it as an authority trusts the server that has the key. */
export function selfSignedCertificate({ commonName, names, notBefore, notAfter }: SelfSignedSubject): CertificatePair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(ECDSA_SHA256));
  const name = sequence(nameAttribute('2.5.4.3', commonName));
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x7f) | 0x40; // positive, and of full length
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))), // version 3
    integer(serial),
    algorithm,
    name,
    sequence(time(notBefore), time(notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions(names))),
  );
  const signature = sign('sha256', body, privateKey);
  return {
    certificate: pem('CERTIFICATE', sequence(body, algorithm, bitString(signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function extensions(names: string[]): Buffer[] {
  const extension = (id: string, critical: boolean, value: Buffer) =>
    sequence(oid(id), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), octets(value));
  return [
    extension('2.5.29.19', true, sequence(der(0x01, Buffer.from([0xff])))), // basic constraints: an authority
    extension('2.5.29.15', true, der(0x03, Buffer.from([2, 0b1000_0100]))), // key usage: signatures, certificates
    extension('2.5.29.37', false, sequence(oid('1.3.6.1.5.5.7.3.1'))), // extended key usage: a server
    alternativeNames(names),
  ];
}

/** UTCTime up to 2049, GeneralizedTime after it (RFC 5280, 4.1.2.5). */
function time(date: Date): Buffer {
  const text = `${date.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  return date.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}
