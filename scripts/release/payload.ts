/**
 * The parts of the executable, behind the program: the parts, their index in JSON, and a trailer. They are no assets of Node.js, which
 * maps assets into memory: 7 MiB of a daemon. `executable/payload.ts` reads them.
 */
import { appendFileSync, statSync } from 'node:fs';
import { type PartIndex, TRAILER_BYTES } from './executable/payload.ts';

export function appendPayload(program: string, parts: Map<string, Uint8Array>): void {
  let offset = statSync(program).size;
  const index: PartIndex = {};
  for (const [name, content] of parts) {
    index[name] = [offset, content.length];
    offset += content.length;
  }
  const list = Buffer.from(JSON.stringify(index));
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeUInt32LE(list.length);
  appendFileSync(program, Buffer.concat([...parts.values(), list, trailer]));
}
