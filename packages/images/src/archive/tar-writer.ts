import { CONTAINER_FILE } from '@podwright/base';

const blockBytes = 512;

/** The ustar header of a plain file (POSIX pax, "ustar Interchange Format"); sizes of 8 GiB and more as GNU has them. */
export function fileHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  if (Buffer.byteLength(name) > 100) throw new RangeError(`the name ${name} does not fit into a tar header`);
  header.write(name, 0);
  header.write(octal(CONTAINER_FILE, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  if (size < 8 ** 11) header.write(octal(size, 12), 124);
  else {
    header.writeUInt8(0x80, 124);
    header.writeBigUInt64BE(BigInt(size), 128);
  }
  header.write(octal(0, 12), 136);
  header.write('        0', 148);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** Zeros that fill a file's last block. */
export function filePadding(size: number): Buffer {
  return Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
}

/** Two blocks of zeros. */
export const archiveEnd = Buffer.alloc(2 * blockBytes);

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}
