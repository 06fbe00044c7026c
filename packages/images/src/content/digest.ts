import { createHash, type Hash } from 'node:crypto';
import { PodwrightError } from '@podwright/base';

/** Number of hexadecimal digits for each supported digest algorithm (image-spec v1, descriptor.md, Digests). */
const HEX_LENGTHS: Record<string, number> = { sha256: 64, sha384: 96, sha512: 128 };

export type Digest = { algorithm: string; hex: string };

/** Whether `text` is `<algorithm>:<lower-case hex>` with a supported algorithm and the right length. */
export function isDigest(text: string): boolean {
  const colon = text.indexOf(':');
  const length = HEX_LENGTHS[text.slice(0, colon)];
  return length !== undefined && text.length === colon + 1 + length && /^[0-9a-f]+$/.test(text.slice(colon + 1));
}

/**
 * Splits a digest into its algorithm and its hexadecimal digits. Throws `invalid_argument` if the digest is malformed or its algorithm is
 * not supported.
 */
export function parseDigest(text: string): Digest {
  if (!isDigest(text)) throw new PodwrightError('invalid_argument', `"${text.slice(0, 200)}" is not a digest`);
  const [algorithm = '', hex = ''] = text.split(':');
  return { algorithm, hex };
}

/** Creates a hash with the algorithm of `digest`. */
export function hasherOf(digest: string): Hash {
  return createHash(parseDigest(digest).algorithm);
}

export function sha256Digest(data: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`;
}

/**
 * Returns the chain IDs of all layers, bottom first. The first is that layer's diff ID; each of the others is the digest of `<parent chain
 * ID> <diff ID>` (image-spec v1, config.md, Layer ChainID).
 */
export function chainIds(diffIds: string[]): string[] {
  const chain: string[] = [];
  for (const diffId of diffIds) {
    const parent = chain.at(-1);
    chain.push(parent === undefined ? diffId : sha256Digest(`${parent} ${diffId}`));
  }
  return chain;
}
