import { gunzipSync } from 'node:zlib';
import { type DescMessage, fromBinary, type Message } from '@bufbuild/protobuf';

const PREFIX_BYTES = 5;
/** Maximum size of a decompressed message: the limit of the CRI. */
const MAX_BYTES = 16 << 20;

/** Decodes a message as on the wire. Returns `undefined` if that fails: the proxy still forwards the bytes. */
export function decodeMessage(schema: DescMessage, framed: Buffer): Message | undefined {
  try {
    const bytes = framed.subarray(PREFIX_BYTES);
    return fromBinary(schema, framed[0] === 0 ? bytes : gunzipSync(bytes, { maxOutputLength: MAX_BYTES }));
  } catch {
    return undefined;
  }
}
