const BLOCK_BYTES = 512;
/** Size of the name field in a tar header. A longer name is written as the body of an extra entry in front. */
const NAME_BYTES = 100;

/** The end-of-archive marker: two zero blocks. */
export const ARCHIVE_END = Buffer.alloc(2 * BLOCK_BYTES);

/**
 * A tar entry to write. `mode` contains only permission bits. `size` is the length of the body, which the caller writes. Names need not be
 * UTF-8.
 */
export type WrittenEntry = {
  name: string | Buffer;
  type: 'file' | 'directory' | 'symlink';
  mode: number;
  size?: number;
  /** Target of a symbolic link. */
  linkName?: string | Buffer;
  /** UID and GID of the entry's owner, default 0. */
  uid?: number;
  gid?: number;
};

const TYPE_FLAGS = { file: '0', symlink: '2', directory: '5' } as const;

/**
 * Returns an entry's header (POSIX pax, "ustar Interchange Format"). Names longer than 100 bytes and numbers that do not fit are written in
 * GNU tar's formats, because busybox cannot read PAX records. The modification time is always 0.
 */
export function tarHeader(entry: WrittenEntry): Buffer {
  const [name, linkName] = [bytesOf(entry.name), bytesOf(entry.linkName ?? '')];
  const extensions = [longName('L', name), longName('K', linkName)];
  return Buffer.concat([...extensions, headerBlock({ ...entry, name, linkName }, TYPE_FLAGS[entry.type])]);
}

const bytesOf = (text: string | Buffer): Buffer => (typeof text === 'string' ? Buffer.from(text) : text);

/** Returns the zeros that pad a body of `size` bytes to a full block. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
}

/** Returns a GNU long-name entry, whose body is the name of the next entry; empty if the name fits in that entry's header. */
function longName(flag: 'L' | 'K', name: Buffer): Buffer {
  const body = Buffer.concat([name, Buffer.from('\0')]);
  if (body.length <= NAME_BYTES) return Buffer.alloc(0);
  const header = headerBlock(
    { name: Buffer.from('././@LongLink'), linkName: Buffer.alloc(0), mode: 0, size: body.length },
    flag,
  );
  return Buffer.concat([header, body, tarPadding(body.length)]);
}

type Fields = Omit<WrittenEntry, 'type'> & { name: Buffer; linkName: Buffer };

function headerBlock({ name, linkName, mode, size = 0, uid = 0, gid = 0 }: Fields, flag: string): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  name.copy(header, 0, 0, NAME_BYTES);
  writeNumber(header.subarray(100, 108), mode);
  writeNumber(header.subarray(108, 116), uid);
  writeNumber(header.subarray(116, 124), gid);
  writeNumber(header.subarray(124, 136), size);
  writeNumber(header.subarray(136, 148), 0);
  header.write('        ', 148);
  header.write(flag, 156);
  linkName.copy(header, 157, 0, NAME_BYTES);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** Writes a number in octal or, if it does not fit, in GNU's base-256 format: big-endian, with the first bit set. */
function writeNumber(field: Buffer, value: number): void {
  const digits = field.length - 1;
  if (value < 8 ** digits) {
    field.write(`${value.toString(8).padStart(digits, '0')}\0`);
    return;
  }
  field.writeUInt8(0x80, 0);
  field.write(value.toString(16).padStart(2 * digits, '0'), 1, 'hex');
}
