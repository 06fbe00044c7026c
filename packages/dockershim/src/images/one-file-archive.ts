const BLOCK_BYTES = 512;

/** Byte offsets of the tar header fields (POSIX.1, "ustar Interchange Format"). */
const NAME = 0;
const MODE = 100;
const SIZE = 124;
const TIME = 136;
const CHECKSUM = 148;
const TYPE = 156;
const MAGIC = 257;

/** Creates a tar archive with a single world-executable file. Deterministic: the same file yields the same archive. */
export function oneFileArchive(name: string, contents: Buffer): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, NAME);
  header.write(['0000755', '0000000', '0000000', ''].join('\0'), MODE);
  header.write(`${contents.length.toString(8).padStart(11, '0')}\0`, SIZE);
  header.write('00000000000\0', TIME);
  header.write('0', TYPE);
  header.write('ustar\x0000', MAGIC);
  // the checksum is calculated with its own field filled with blanks
  header.write(' '.repeat(8), CHECKSUM);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, CHECKSUM);
  const padding = Buffer.alloc((BLOCK_BYTES - (contents.length % BLOCK_BYTES)) % BLOCK_BYTES);
  return Buffer.concat([header, contents, padding, Buffer.alloc(2 * BLOCK_BYTES)]);
}
