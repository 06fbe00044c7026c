import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { PodwrightError } from '@podwright/base';

/** A certificate that signs itself: whoever has it as an authority trusts the server that has the key. PEM. */
export type SelfSigned = { certificate: string; key: string };

export type CertificateSubject = {
  commonName: string;
  /** DNS names and IP addresses under which the server is called. */
  names: string[];
  notBefore: Date;
  notAfter: Date;
};

/** Node.js makes keys and signatures, but no certificates: this writes the few fields of one (RFC 5280, X.690 for DER). */
export function selfSignedCertificate({ commonName, names, notBefore, notAfter }: CertificateSubject): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('1.2.840.10045.4.3.2')); // ecdsa-with-SHA256
  const name = sequence(set(sequence(oid('2.5.4.3'), der(0x0c, Buffer.from(commonName)))));
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
    sequence(oid(id), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value));
  const alternatives = names.map((name) =>
    isIP(name) === 0 ? der(0x82, Buffer.from(name)) : der(0x87, addressBytes(name)),
  );
  return [
    extension('2.5.29.19', true, sequence(der(0x01, Buffer.from([0xff])))), // basic constraints: an authority
    extension('2.5.29.15', true, der(0x03, Buffer.from([2, 0b1000_0100]))), // key usage: signatures, certificates
    extension('2.5.29.37', false, sequence(oid('1.3.6.1.5.5.7.3.1'))), // extended key usage: a server
    extension('2.5.29.17', false, sequence(...alternatives)), // subject alternative names
  ];
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const bytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  if (length > 0xffff) throw new PodwrightError('out_of_range', `write a certificate: a field of ${length} bytes`);
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]) => der(0x31, Buffer.concat(parts));
const integer = (bytes: Buffer) => der(0x02, bytes);
const bitString = (bytes: Buffer) => der(0x03, Buffer.concat([Buffer.from([0]), bytes]));

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

/** UTCTime up to 2049, GeneralizedTime after it (RFC 5280, 4.1.2.5). */
function time(date: Date): Buffer {
  const text = `${date.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  return date.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const { hostname } = new URL(`http://[${address.split('%')[0]}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const groups = (text: string | undefined) => (text ? text.split(':').map((group) => Number.parseInt(group, 16)) : []);
  const [before, after] = [groups(head), groups(tail)];
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
