export type PemBlock = { type: string; bytes: Buffer; hasHeaders: boolean };

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';

/**
 * Returns the PEM blocks in a text, ignoring malformed blocks and any text between blocks. Makes a single pass: clients may send many BEGIN
 * lines.
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

/** Splits the body of a PEM block. The base64 data may be preceded by headers, such as `Proc-Type: 4,ENCRYPTED`. */
function readBody(body: string): { bytes: Buffer; hasHeaders: boolean } {
  const lines = body.trim().split(/\r?\n/);
  const headers = lines.filter((line) => line.includes(':'));
  const base64 = lines.filter((line) => !line.includes(':')).join('');
  return { bytes: Buffer.from(base64, 'base64'), hasHeaders: headers.length > 0 };
}
