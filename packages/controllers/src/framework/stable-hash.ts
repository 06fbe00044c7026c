import { isRecord } from '@podwright/base';

/** Returns the value as JSON that is independent of key order. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Characters of generated names: no vowels or digits that look like them, so that no words appear (apimachinery, util/rand). */
const SAFE_CHARACTERS = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * Returns a hash of the text for labels and names: 32-bit FNV-1a in upstream's alphabet. Upstream hashes a different text (a dump of Go
 * structs), so its hashes of the same objects differ.
 */
export function nameHash(text: string): string {
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, FNV_PRIME) >>> 0;
  return safeName(hash);
}

/** Encodes a hash in the alphabet of generated names (rand.SafeEncodeString). */
export function safeName(hash: number): string {
  return [...String(hash)].map((digit) => SAFE_CHARACTERS[digit.charCodeAt(0) % SAFE_CHARACTERS.length]).join('');
}
