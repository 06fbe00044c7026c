import { gunzipSync } from 'node:zlib';
import { type DescMessage, fromBinary, type Message } from '@bufbuild/protobuf';

const PREFIX_BYTES = 5;
/** Maximum size of a decompressed message, which is the CRI's limit. */
const MAX_BYTES = 16 << 20;

/** Decodes a message in wire format. Returns `undefined` if that fails; the proxy still forwards the bytes. */
export function decodeMessage(schema: DescMessage, framed: Buffer): Message | undefined {
  try {
    const bytes = framed.subarray(PREFIX_BYTES);
    return fromBinary(schema, framed[0] === 0 ? bytes : gunzipSync(bytes, { maxOutputLength: MAX_BYTES }));
  } catch {
    return undefined;
  }
}
