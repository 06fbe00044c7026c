/** Validates a certificate and its private key, with the error messages of Go's tls.X509KeyPair. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { hasSlowKeys } from '@podwright/base';

type Block = { type: string; text: string };

/** Returns why the PEM data is not a certificate and its private key, or `undefined` if it is. */
export function keyPairProblem(certificate: Buffer, key: Buffer): string | undefined {
  const certificateBlocks = pemBlocks(certificate.toString('latin1'));
  const leaf = certificateBlocks.find(({ type }) => type === 'CERTIFICATE');
  if (leaf === undefined) return noCertificate(certificateBlocks);
  const keyBlocks = pemBlocks(key.toString('latin1'));
  const keyBlock = keyBlocks.find(({ type }) => type.endsWith('PRIVATE KEY'));
  if (keyBlock === undefined) return noKey(keyBlocks);
  return mismatch(leaf.text, keyBlock.text);
}

/** Matches PEM blocks. They may have headers (RFC 1421), as encrypted keys do. */
const PEM = /-----BEGIN ([A-Z0-9 ]+)-----\s*(?:[A-Z][\w-]*: .*\s)*[^-]*-----END \1-----/g;

const pemBlocks = (text: string): Block[] =>
  [...text.matchAll(PEM)].map(([block, type]) => ({ type: type!, text: block }));

const typesOf = (blocks: readonly Block[]): string => `[${blocks.map(({ type }) => type).join(' ')}]`;

function noCertificate(blocks: readonly Block[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in certificate input';
  if (blocks.length === 1 && blocks[0]!.type.endsWith('PRIVATE KEY'))
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${typesOf(blocks)}`;
}

function noKey(blocks: readonly Block[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in key input';
  if (blocks.length === 1 && blocks[0]!.type === 'CERTIFICATE')
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${typesOf(blocks)}`;
}

function mismatch(certificate: string, key: string): string | undefined {
  const leaf = parsed(certificate, () => new X509Certificate(certificate));
  if (leaf === undefined) return 'x509: malformed certificate';
  const privateKey = hasKnownType(key) ? parsed<KeyObject>(key, () => createPrivateKey(key)) : undefined;
  if (privateKey === undefined) return 'tls: failed to parse private key';
  if (leaf.publicKey.asymmetricKeyType !== privateKey.asymmetricKeyType)
    return 'tls: private key type does not match public key type';
  return leaf.checkPrivateKey(privateKey) ? undefined : 'tls: private key does not match public key';
}

/** Parses a PEM block. Returns `undefined` if it is malformed or, as in Go, if its key uses explicit curve parameters. */
function parsed<T>(block: string, parse: () => T): T | undefined {
  if (hasSlowKeys(contentsOf(block))) return undefined;
  try {
    return parse();
  } catch {
    return undefined;
  }
}

/** Start of a PKCS#8 key (RFC 5208) for RSA, elliptic curves or Ed25519. */
const KNOWN_PKCS8 =
  /^30(?:[0-7].|81..|82.{4}|83.{6})0201(?:00|01)30[0-7].(?:06092a864886f70d010101|06072a8648ce3d0201|06032b6570)/;

/** Whether the private key is of a type supported by Go. For a large DSA key, OpenSSL would take minutes to compute the public key. */
function hasKnownType(block: string): boolean {
  if (/^-----BEGIN (?:RSA|EC) PRIVATE KEY-/.test(block)) return true;
  const start = contentsOf(block).toString('hex', 0, 40);
  return block.startsWith('-----BEGIN PRIVATE KEY-') && KNOWN_PKCS8.test(start);
}

/** Decodes a PEM block. Headers, if any, end at an empty line (RFC 1421, section 4.4). */
function contentsOf(block: string): Buffer {
  const body = block.split('-----')[2]!;
  return Buffer.from(body.includes(':') ? body.slice(body.search(/\n\s*\n/)) : body, 'base64');
}
