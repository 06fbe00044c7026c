export type PemBlock = { type: string; bytes: Buffer; hasHeaders: boolean };

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';

/**
 * The blocks of a PEM text. Text outside of blocks is ignored, and so are blocks that are not well formed. Reads the text once, as clients
 * may send one with many beginnings.
 */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let position = 0;
  for (;;) {
    const begin = text.indexOf(BEGIN, position);
    const typeEnd = text.indexOf(DASHES, begin + BEGIN.length);
    const end = text.indexOf(END, typeEnd);
    if (begin < 0 || typeEnd < 0 || end < 0) return blocks;
    const type = text.slice(begin + BEGIN.length, typeEnd);
    const isClosed = text.startsWith(`${type}${DASHES}`, end + END.length);
    const isLine = !type.includes('\n');
    if (isClosed && isLine) blocks.push({ type, ...readBody(text.slice(typeEnd + DASHES.length, end)) });
    position = isLine ? end + END.length : begin + BEGIN.length;
  }
}

/** Headers such as `Proc-Type: 4,ENCRYPTED` are lines before the base64 text. */
function readBody(body: string): { bytes: Buffer; hasHeaders: boolean } {
  const lines = body.trim().split(/\r?\n/);
  const headers = lines.filter((line) => line.includes(':'));
  const base64 = lines.filter((line) => !line.includes(':')).join('');
  return { bytes: Buffer.from(base64, 'base64'), hasHeaders: headers.length > 0 };
}
