/**
 * The parts of the executable, behind the program: the parts, their index in JSON, and a trailer. They are no assets of Node.js, which
 * maps assets into memory: 7 MiB of a daemon. `executable/payload.ts` reads them.
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
