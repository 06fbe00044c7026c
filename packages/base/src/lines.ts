import { BoundedBytes } from './bounded-bytes.ts';

const NEWLINE = 0x0a;

/**
 * Splits chunks of text into lines without their newlines; the last line need not end with one. A line longer than `maxLineBytes` is
 * yielded in pieces, to bound memory if there are no newlines.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxLineBytes: number): AsyncGenerator<string> {
  const line = new BoundedBytes(maxLineBytes);
  const take = () => {
    const text = line.bytes().toString('utf8');
    line.clear();
    return text;
  };
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; ) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = Math.min(newline === -1 ? chunk.length : newline, start + maxLineBytes - line.sizeBytes);
      line.add(chunk.subarray(start, end));
      if (end === newline || line.sizeBytes === maxLineBytes) yield take();
      start = end === newline ? end + 1 : end;
    }
  }
  if (line.sizeBytes > 0) yield take();
}
