/** Parses certificate signing requests (PKCS#10, RFC 2986) to the extent needed to verify their signatures. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { hasSlowKeys } from '@podwright/base';
import { pemBlocks } from './pem-blocks.ts';

/** Hash functions of signature algorithms, by OID. Ed25519 has none. */
const HASHES: ReadonlyMap<string, string | null> = new Map([
  ['1.2.840.113549.1.1.5', 'sha1'],
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.2.840.10045.4.1', 'sha1'],
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
  ['1.3.101.112', null],
]);

/**
 * OIDs of the supported public key types: RSA, elliptic curves, Ed25519. Others are not verified: a large DSA key would take a long time.
 */
const KEY_TYPES = ['1.2.840.113549.1.1.1', '1.2.840.10045.2.1', '1.3.101.112'];

const UNSUPPORTED = 'x509: cannot verify signature: algorithm unimplemented';
const MALFORMED = 'asn1: structure error: malformed certificate request';

/** Returns why a base64 string is not a PEM certificate signing request with a valid signature, or `undefined` if it is. */
export function signingRequestProblem(base64: string): string | undefined {
  const [block] = pemBlocks(Buffer.from(base64, 'base64').toString('latin1'));
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  try {
    return signatureProblem(block.bytes);
  } catch {
    return MALFORMED;
  }
}

function signatureProblem(bytes: Buffer): string | undefined {
  const outer = readElement(bytes);
  if (outer.end !== bytes.length) return 'asn1: syntax error: trailing data';
  const [info, algorithm, signature] = children(outer);
  // the fields of a certification request are version, subject and public key
  const key = children(info!)[2]!;
  const hash = HASHES.get(identifierOf(children(algorithm!)[0]!));
  if (hash === undefined) return UNSUPPORTED;
  if (hasSlowKeys(key.whole)) return 'x509: unsupported elliptic curve';
  const keyType = identifierOf(children(children(key)[0]!)[0]!);
  if (!KEY_TYPES.includes(keyType)) return UNSUPPORTED;
  const publicKey = createPublicKey({ key: key.whole, format: 'der', type: 'spki' });
  // the first byte of a DER bit string is the number of unused bits
  const isValid = verify(hash, info!.whole, publicKey, signature!.content.subarray(1));
  return isValid ? undefined : wrongSignature(publicKey);
}

function wrongSignature({ asymmetricKeyType }: KeyObject): string {
  if (asymmetricKeyType === 'ec') return 'x509: ECDSA verification failure';
  return asymmetricKeyType === 'ed25519' ? 'x509: Ed25519 verification failure' : 'crypto/rsa: verification error';
}

/** A DER element (ITU-T X.690) with its end offset. */
type Element = { whole: Buffer; content: Buffer; end: number };

/** Reads a DER element. Throws if it extends beyond the buffer. */
function readElement(bytes: Buffer): Element {
  const first = bytes[1]!;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (lengthBytes > 4) throw new RangeError('length of more than 4 bytes');
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes);
  const start = 2 + lengthBytes;
  const end = start + length;
  if (!(end <= bytes.length)) throw new RangeError('element ends after its bytes');
  return { whole: bytes.subarray(0, end), content: bytes.subarray(start, end), end };
}

function children({ content }: Element): Element[] {
  const found: Element[] = [];
  for (let rest = content; rest.length > 0; rest = rest.subarray(found.at(-1)!.end)) found.push(readElement(rest));
  return found;
}

/** Formats an object identifier in dotted notation. */
function identifierOf({ content }: Element): string {
  const [first = 0, ...others] = content;
  const arcs = [Math.floor(first / 40), first % 40];
  let arc = 0;
  for (const byte of others) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      arcs.push(arc);
      arc = 0;
    }
  }
  return arcs.join('.');
}
