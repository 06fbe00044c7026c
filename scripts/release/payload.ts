/**
 * The payload appended to the program: the parts, a JSON index and a trailer. The parts are not Node.js assets, because Node.js maps assets
 * into memory: 7 MiB in a daemon. `executable/payload.ts` reads them.
 */
import { appendFileSync, statSync } from 'node:fs';
import { END_MARK, type PartIndex } from './executable/payload.ts';

export function appendPayload(program: string, parts: Map<string, Uint8Array>): void {
  let offset = statSync(program).size;
  const index: PartIndex = {};
  for (const [name, content] of parts) {
    index[name] = [offset, content.length];
    offset += content.length;
  }
  const list = Buffer.from(JSON.stringify(index));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(list.length);
  appendFileSync(program, Buffer.concat([...parts.values(), list, length, Buffer.from(END_MARK, 'latin1')]));
}
