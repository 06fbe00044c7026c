import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { TestContext } from 'node:test';
import {
  bitString,
  contextTag,
  der,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  TAG,
  TRUE,
  time,
} from '../../packages/certificates/src/der.ts';

/** How long to wait for a TLS peer's response to a certificate chain. */
const ANSWER_MS = 5000;

/** A fatal handshake_failure alert. */
const HANDSHAKE_FAILURE = Buffer.from('15030300020228', 'hex');

const KEY_BYTES = 384;
const NULL = der(0x05);
const SHA256_WITH_RSA = sequence(objectIdentifier('1.2.840.113549.1.1.11'), NULL);
const RSA_KEY = sequence(objectIdentifier('1.2.840.113549.1.1.1'), NULL);
const CA = sequence(objectIdentifier('2.5.29.19'), TRUE, octetString(sequence(TRUE)));
const VALIDITY = sequence(time(new Date('2025-01-01T00:00:00Z')), time(new Date('2049-01-01T00:00:00Z')));

const RECORD = { handshake: 22 };
const MESSAGE = { clientHello: 1, serverHello: 2, certificate: 11, serverHelloDone: 14 };

const name = (number: number) =>
  sequence(set(sequence(objectIdentifier('2.5.4.3'), der(TAG.utf8String, Buffer.from(`c${number}`)))));

/**
 * Returns a certificate issued by certificate `number + 1`. Its signature is random, and verifying a signature with its key takes
 * milliseconds.
 */
function certificate(number: number): Buffer {
  const modulus = randomBytes(KEY_BYTES);
  modulus[0]! |= 0x80;
  modulus[KEY_BYTES - 1]! |= 1;
  const exponent = Buffer.alloc(KEY_BYTES, 0xff);
  exponent[0] = 0x7f;
  const key = sequence(RSA_KEY, bitString(sequence(integer(modulus), integer(exponent))));
  const version = der(contextTag(0), integer(Buffer.from([2])));
  const serial = integer(Buffer.from([number + 1]));
  const extensions = der(contextTag(3), sequence(CA));
  const issuer = name(number + 1);
  const contents = sequence(version, serial, SHA256_WITH_RSA, issuer, VALIDITY, name(number), key, extensions);
  const signature = randomBytes(KEY_BYTES);
  signature[0]! &= 0x7f;
  return sequence(contents, SHA256_WITH_RSA, bitString(signature));
}

function uint(bytes: number, value: number): Buffer {
  const encoded = Buffer.alloc(bytes);
  encoded.writeUIntBE(value, 0, bytes);
  return encoded;
}

const prefixed = (bytes: number, content: Buffer) => Buffer.concat([uint(bytes, content.length), content]);
const extension = (type: number, content: string) =>
  Buffer.concat([uint(2, type), prefixed(2, Buffer.from(content, 'hex'))]);

/** Encodes a TLS 1.2 handshake message as records. */
function records(type: number, content: Buffer): Buffer {
  const message = Buffer.concat([uint(1, type), prefixed(3, content)]);
  const parts: Buffer[] = [];
  for (let at = 0; at < message.length; at += 16_000)
    parts.push(uint(1, RECORD.handshake), uint(2, 0x0303), prefixed(2, message.subarray(at, at + 16_000)));
  return Buffer.concat(parts);
}

/** The beginning of a message with 93 KiB of certificates. A peer with a limit responds to it without waiting for the rest. */
export const LARGE_CHAIN = Buffer.from('16030300040b016b48', 'hex');

/** Returns a message with certificates whose signatures are slow to verify. */
export function slowChain(length: number): Buffer {
  const certificates = Array.from({ length }, (_, number) => prefixed(3, certificate(number)));
  return records(MESSAGE.certificate, prefixed(3, Buffer.concat(certificates)));
}

/** Starts a server that sends each client a chain, followed by an alert. */
export async function serveChain(t: Pick<TestContext, 'after'>, chain: Buffer): Promise<{ port: number }> {
  const random = randomBytes(32);
  const extensions = prefixed(2, extension(0xff01, '00'));
  const hello = Buffer.concat([uint(2, 0x0303), random, Buffer.from('00c02f00', 'hex'), extensions]);
  const sent = Buffer.concat([records(MESSAGE.serverHello, hello), chain, HANDSHAKE_FAILURE]);
  const server = createServer((socket) => {
    socket.on('error', () => undefined).setTimeout(ANSWER_MS, () => socket.destroy());
    socket.once('data', () => socket.write(sent)).resume();
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port };
}

/** Connects to a server that requests a client certificate, and sends a chain. Returns the bytes that the server sends after that. */
export async function sendChain(port: number, chain: Buffer): Promise<Buffer> {
  const groups = extension(10, '0004001d0017');
  const others = [extension(11, '0100'), extension(13, '000a04030401050106010804'), extension(0xff01, '00')];
  const protocols = extension(16, '000c02683208687474702f312e31');
  const extensions = prefixed(2, Buffer.concat([groups, ...others, protocols]));
  const ciphers = Buffer.from('000004c02bc02f0100', 'hex');
  const hello = Buffer.concat([uint(2, 0x0303), randomBytes(32), ciphers, extensions]);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).write(records(MESSAGE.clientHello, hello));
  const done = records(MESSAGE.serverHelloDone, Buffer.alloc(0)).subarray(5);
  let flight = Buffer.alloc(0);
  const answers: Buffer[] = [];
  socket.on('data', (data) => {
    if (flight.includes(done)) return void answers.push(data);
    flight = Buffer.concat([flight, data]);
    if (flight.includes(done)) socket.write(chain);
  });
  socket.setTimeout(ANSWER_MS, () => socket.destroy());
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(answers);
}
