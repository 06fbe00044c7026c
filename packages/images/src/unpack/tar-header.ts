import { PodwrightError } from '@podwright/base';

/** Block size of tar archives. */
export const BLOCK_BYTES = 512;

export type TarEntryType = 'file' | 'link' | 'symlink' | 'char' | 'block' | 'directory' | 'fifo';

/** A stored part of a sparse file. The gaps between parts are holes. */
export type SparsePart = { offset: number; length: number };

/** An extended attribute. Its value may contain arbitrary bytes. */
export type Xattr = { name: string; value: Buffer };

/** The metadata of a tar entry, with all extensions (PAX, GNU) applied. */
export type TarHeader = {
  type: TarEntryType;
  /**
   * The name, decoded as UTF-8. `nameBytes` are the original bytes, which need not be UTF-8. Likewise, `linkName` and `linkBytes` are the
   * link target.
   */
  name: string;
  nameBytes: Buffer;
  linkName: string;
  linkBytes: Buffer;
  /** Permission bits, including setuid, setgid and sticky. */
  mode: number;
  uid: number;
  gid: number;
  /** Size of the unpacked file in bytes. The body of a sparse file is smaller than this. */
  size: number;
  /** Unix time in seconds, with microsecond precision. */
  mtimeSeconds: number;
  /** Device number; set for `char` and `block`. */
  major: number;
  minor: number;
  xattrs: Xattr[];
  /** The parts of a sparse file. The entry's body is their concatenation. */
  sparse?: SparsePart[];
};

/** A parsed header block, before extensions are applied. `size` is the size in the archive. */
export type RawHeader = Omit<TarHeader, 'type' | 'name' | 'linkName' | 'xattrs' | 'sparse'> & { typeFlag: string };

/** Creates the error for a malformed tar archive. */
export function malformed(message: string): PodwrightError {
  return new PodwrightError('invalid_argument', `read tar archive: ${message}`);
}

/** Creates the error for a truncated tar archive. */
export function truncated(where: string): PodwrightError {
  return new PodwrightError('data_loss', `read tar archive: it ends in the middle of ${where}`);
}

/**
 * Parses a header block in v7, ustar, GNU or PAX format; returns `undefined` for a block of zeros. Errors: `invalid_argument` (checksum,
 * numbers).
 */
export function parseHeaderBlock(block: Buffer): RawHeader | undefined {
  if (block[0] === 0 && block.every((byte) => byte === 0)) return undefined;
  verifyChecksum(block);
  const isPosix = block.toString('latin1', 257, 263) === 'ustar\0';
  const isDevice = block[156] === 0x33 || block[156] === 0x34; // '3' and '4'
  const name = text(block, 0, 100);
  const prefix = isPosix ? text(block, 345, 155) : Buffer.alloc(0);
  return {
    typeFlag: String.fromCharCode(block[156]!),
    nameBytes: prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from('/'), name]),
    linkBytes: text(block, 157, 100),
    mode: parseNumber(block.subarray(100, 108), 'mode') & 0o7777,
    uid: parseNumber(block.subarray(108, 116), 'uid'),
    gid: parseNumber(block.subarray(116, 124), 'gid'),
    size: parseNumber(block.subarray(124, 136), 'size'),
    mtimeSeconds: parseNumber(block.subarray(136, 148), 'mtime'),
    major: isDevice ? parseNumber(block.subarray(329, 337), 'device') : 0,
    minor: isDevice ? parseNumber(block.subarray(337, 345), 'device') : 0,
  };
}

/** Returns the bytes of a field up to its first NUL. They are copied because the block's buffer is reused. */
function text(block: Buffer, start: number, length: number): Buffer {
  const end = block.indexOf(0, start);
  return Buffer.from(block.subarray(start, end === -1 || end > start + length ? start + length : end));
}

/**
 * Verifies the checksum: the sum of all bytes, with the checksum field itself counted as spaces. Also accepts sums of signed bytes, which
 * some old programs write.
 */
function verifyChecksum(block: Buffer): void {
  let unsigned = 8 * 0x20;
  let highBytes = 0;
  for (let index = 0; index < BLOCK_BYTES; index++) {
    if (index >= 148 && index < 156) continue;
    unsigned += block[index]!;
    if (block[index]! > 127) highBytes++;
  }
  const stored = parseNumber(block.subarray(148, 156), 'checksum');
  if (stored !== unsigned && stored !== unsigned - 256 * highBytes) {
    throw malformed(`a header has checksum ${stored} instead of ${unsigned}: it is damaged, or not a tar archive`);
  }
}

/** Parses an octal number or, if the first bit is set, a big-endian two's complement number (GNU tar's format for large values). */
export function parseNumber(field: Buffer, what: string): number {
  if ((field[0]! & 0x80) !== 0) return parseBinary(field, what);
  const digits = field.toString('latin1').replace(/^[\0 ]+|[\0 ].*$/gs, '');
  if (!/^[0-7]*$/.test(digits)) throw malformed(`${what} ${JSON.stringify(digits)} is not an octal number`);
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

function parseBinary(field: Buffer, what: string): number {
  const bits = BigInt(field.length * 8 - 1);
  const raw = BigInt(`0x${field.toString('hex')}`) & ((1n << bits) - 1n);
  const value = Number((field[0]! & 0x40) === 0 ? raw : raw - (1n << bits));
  if (!Number.isSafeInteger(value)) throw malformed(`${what} ${value} is out of range`);
  return value;
}
