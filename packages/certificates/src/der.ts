/** The few fields of certificates and requests for them, written (X.690 for DER, RFC 5280 and RFC 2986 for what they mean). */
import { isIP } from 'node:net';
import { PodwrightError } from '@podwright/base';

export function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const bytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  if (length > 0xffff) throw new PodwrightError('out_of_range', `write a certificate: a field of ${length} bytes`);
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

export const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts));
export const set = (...parts: Buffer[]) => der(0x31, Buffer.concat(parts));
export const integer = (bytes: Buffer) => der(0x02, bytes);
export const octets = (bytes: Buffer) => der(0x04, bytes);
export const bitString = (bytes: Buffer) => der(0x03, Buffer.concat([Buffer.from([0]), bytes]));

export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** A part of a name: `2.5.4.3` is a common name, `2.5.4.10` an organization. */
export function nameAttribute(type: string, value: string): Buffer {
  const isPrintable = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value);
  return set(sequence(oid(type), der(isPrintable ? 0x13 : 0x0c, Buffer.from(value))));
}

/** The extension of subject alternative names: DNS names and IP addresses. */
export function alternativeNames(names: readonly string[]): Buffer {
  const parts = names.map((name) => (isIP(name) === 0 ? der(0x82, Buffer.from(name)) : der(0x87, addressBytes(name))));
  return sequence(oid('2.5.29.17'), octets(sequence(...parts)));
}

/** ecdsa-with-SHA256 */
export const ECDSA_SHA256 = '1.2.840.10045.4.3.2';

export function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
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
