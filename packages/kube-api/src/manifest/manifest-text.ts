import { isUtf8 } from 'node:buffer';

/** The error message for bytes that `textOfManifest` cannot decode. */
export const NO_TEXT = 'is not UTF-8 text';

/**
 * Decodes UTF-8, or UTF-16 with a byte order mark, which Windows tools write and kubectl accepts. Returns `undefined` for any other
 * encoding.
 */
export function textOfManifest(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : undefined;
}
