/** DER encodings for parts of certificates (RFC 5280) and certificate requests (RFC 2986). */
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { contextTag, der, objectIdentifier, octetString, sequence, set, TAG, TRUE } from './der.ts';

export const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  extensionRequest: '1.2.840.113549.1.9.14',
  ecdsaSha256: '1.2.840.10045.4.3.2',
} as const;

/** Encodes a distinguished name, with its attributes in the order used by Go. */
export function distinguishedName(subject: { commonName: string; organizations?: readonly string[] }): Buffer {
  const { commonName, organizations = [] } = subject;
  return sequence(
    ...organizations.map((organization) => nameAttribute(OID.organization, organization)),
    nameAttribute(OID.commonName, commonName),
  );
}

function nameAttribute(type: string, value: string): Buffer {
  const isPrintable = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value);
  const tag = isPrintable ? TAG.printableString : TAG.utf8String;
  return set(sequence(objectIdentifier(type), der(tag, Buffer.from(value))));
}

export function extension(oid: string, value: Buffer, isCritical = false): Buffer {
  return sequence(objectIdentifier(oid), ...(isCritical ? [TRUE] : []), octetString(value));
}

/** Encodes the subjectAltName extension; `names` are DNS names and IP addresses. */
export function alternativeNames(names: readonly string[]): Buffer {
  const parts = names.map((name) =>
    isIP(name) === 0 ? der(contextTag(2, false), Buffer.from(name)) : der(contextTag(7, false), addressBytes(name)),
  );
  return extension(OID.alternativeName, sequence(...parts));
}

/** Encodes the extKeyUsage extension; `purposes` are object identifiers. */
export const extendedKeyUsage = (...purposes: string[]): Buffer =>
  extension(OID.extendedKeyUsage, sequence(...purposes.map(objectIdentifier)));

/** Returns a random serial number: positive and always 16 bytes long (RFC 5280 permits up to 20). */
export function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

/** Encodes a PEM block. */
export function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const { hostname } = new URL(`http://[${address.split('%')[0]}]`); // URL shortens the address; the zone is removed first
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const groups = (text: string | undefined) => (text ? text.split(':').map((group) => Number.parseInt(group, 16)) : []);
  const [before, after] = [groups(head), groups(tail)];
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
