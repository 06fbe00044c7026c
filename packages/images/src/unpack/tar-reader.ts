import { PodwrightError } from '@podwright/base';
import { MAX_EXTENSION_BYTES, MAX_GLOBAL_RECORDS, MAX_SPARSE_PARTS } from '../limits.ts';
import { ByteReader } from './byte-reader.ts';
import { type PaxRecord, parsePaxRecords, paxInteger, paxTime } from './pax-records.ts';
import { checkSparse, oldGnuSparse, oldGnuSparseExtension, paxSparse, readPaxSparse } from './sparse-map.ts';
import {
  BLOCK_BYTES,
  malformed,
  parseHeaderBlock,
  type RawHeader,
  type SparsePart,
  type TarEntryType,
  type TarHeader,
  truncated,
  type Xattr,
} from './tar-header.ts';

export type { TarHeader } from './tar-header.ts';

/** An entry of a tar archive. Any unread bytes of the body are skipped when the next entry is requested. */
export type TarEntry = { header: TarHeader; body: AsyncIterable<Buffer> };

const MAX_ID = 0xffff_fffe;

const entryTypes: Record<string, TarEntryType> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  S: 'file',
  '1': 'link',
  '2': 'symlink',
  '3': 'char',
  '4': 'block',
  '5': 'directory',
  '6': 'fifo',
};

/** The extension headers in effect: the global ones, and the local ones, which apply only to the next entry. */
type Extensions = { global: PaxRecord[]; local: PaxRecord[]; longName?: Buffer; longLink?: Buffer };

/**
 * Reads a tar archive in v7, ustar, GNU or PAX format, and consumes the stream to its end. Memory usage is bounded for any archive. The
 * pieces of a body are views of the stream's chunks, valid only until the next read. Errors: `invalid_argument` (malformed), `data_loss`
 * (truncated), `unimplemented` (unsupported entry type).
 */
export async function* readTar(stream: AsyncIterable<Buffer>): AsyncGenerator<TarEntry, void, void> {
  const reader = new ByteReader(stream);
  try {
    const global: PaxRecord[] = [];
    for (;;) {
      const found = await nextHeader(reader, global);
      if (found === undefined) break;
      const body = new TarBody(reader, found.storedBytes, found.header.name);
      yield { header: found.header, body };
      await body.finish();
    }
    await reader.drain();
  } finally {
    await reader.close();
  }
}

class TarBody implements AsyncIterable<Buffer> {
  readonly #reader: ByteReader;
  readonly #where: string;
  readonly #padding: number;
  #left: number;

  constructor(reader: ByteReader, bytes: number, where: string) {
    this.#reader = reader;
    this.#where = where;
    this.#left = bytes;
    this.#padding = padding(bytes);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, void> {
    while (this.#left > 0) {
      const piece = await this.#reader.some(this.#left);
      if (piece === undefined) throw truncated(this.#where);
      this.#left -= piece.length;
      yield piece;
    }
  }

  /** Skips the rest of the body and the padding, which `umoci insert` (0.4.7) omits at the end of an archive. */
  async finish(): Promise<void> {
    await this.#reader.skip(this.#left, this.#where);
    await this.#reader.skipUpTo(this.#padding);
    this.#left = 0;
  }
}

function padding(bytes: number): number {
  return (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

type FoundHeader = { header: TarHeader; storedBytes: number };

/** Reads extension headers and the header they apply to; returns `undefined` at the end of the archive. */
async function nextHeader(reader: ByteReader, global: PaxRecord[]): Promise<FoundHeader | undefined> {
  const extensions: Extensions = { global, local: [] };
  for (;;) {
    const block = await reader.block();
    const raw = block === undefined ? undefined : parseHeaderBlock(block);
    if (block === undefined || raw === undefined) {
      await checkEnd(reader, block, extensions);
      return undefined;
    }
    if (await readExtension(reader, raw, extensions)) continue;
    return assemble(reader, block, { raw, extensions });
  }
}

/** Checks the end of an archive, which consists of two zero blocks; some programs write only one or none. */
async function checkEnd(reader: ByteReader, zeros: Buffer | undefined, extensions: Extensions): Promise<void> {
  const { local, longName, longLink } = extensions;
  if (local.length > 0 || longName !== undefined || longLink !== undefined) throw truncated('an extended header');
  const second = zeros === undefined ? undefined : await reader.block();
  if (second !== undefined && parseHeaderBlock(second) !== undefined)
    throw malformed('an entry follows a block of zeros');
}

/** Reads an extension header. Returns false if `raw` is an entry's header instead. */
async function readExtension(reader: ByteReader, raw: RawHeader, extensions: Extensions): Promise<boolean> {
  if (!'xXgLKV'.includes(raw.typeFlag)) return false;
  if (raw.size < 0 || raw.size > MAX_EXTENSION_BYTES) throw malformed(`an extended header claims ${raw.size} bytes`);
  const padded = await reader.exactly(raw.size + padding(raw.size), 'an extended header');
  const body = Buffer.from(padded.subarray(0, raw.size));
  if (raw.typeFlag === 'g') mergeGlobal(extensions.global, parsePaxRecords(body));
  else if (raw.typeFlag === 'L') extensions.longName = untilNull(body);
  else if (raw.typeFlag === 'K') extensions.longLink = untilNull(body);
  else if (raw.typeFlag !== 'V') extensions.local = parsePaxRecords(body); // volume labels are ignored
  return true;
}

/**
 * Merges global PAX records: later ones replace earlier ones, and an empty value revokes one. Their number and total size are limited,
 * because they apply to all following entries. Values are copied, because slices would keep the whole header in memory.
 */
function mergeGlobal(global: PaxRecord[], records: PaxRecord[]): void {
  const merged = new Map(global.map((record) => [record.keyword, record]));
  for (const { keyword, value } of records) {
    if (value.length === 0) merged.delete(keyword);
    else merged.set(keyword, { keyword, value: Buffer.from(value) });
  }
  const all = [...merged.values()];
  const bytes = all.reduce((sum, { keyword, value }) => sum + keyword.length + value.length, 0);
  if (all.length > MAX_GLOBAL_RECORDS || bytes > MAX_EXTENSION_BYTES) throw malformed('too many global PAX records');
  global.splice(0, global.length, ...all);
}

function untilNull(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.subarray(0, end);
}

type HeaderParts = { raw: RawHeader; extensions: Extensions };

async function assemble(reader: ByteReader, block: Buffer, { raw, extensions }: HeaderParts): Promise<FoundHeader> {
  const oldSparse = raw.typeFlag === 'S' ? oldGnuSparse(block) : undefined;
  const records = new PaxFields([...extensions.global, ...extensions.local]);
  const header = describe(raw, extensions, records);
  let storedBytes = header.size;
  let parts = oldSparse === undefined ? paxSparse(extensions.local) : await readOldSparse(reader, oldSparse);
  if (records.get('GNU.sparse.major')?.toString() === '1') {
    const readBlock = () => reader.exactly(BLOCK_BYTES, header.name);
    const map = await readPaxSparse(readBlock);
    parts = map.parts;
    storedBytes -= map.bytes;
  }
  if (parts !== undefined) {
    if (header.type !== 'file') throw malformed(`${header.name} is sparse but not a regular file`);
    header.size =
      oldSparse?.realSize ?? records.integer('GNU.sparse.realsize') ?? records.integer('GNU.sparse.size') ?? 0;
    header.sparse = parts;
    checkSparse(parts, header.size, storedBytes);
  }
  return { header, storedBytes };
}

async function readOldSparse(reader: ByteReader, first: { parts: SparsePart[]; more: boolean }): Promise<SparsePart[]> {
  const parts = [...first.parts];
  for (let { more } = first; more; ) {
    const extension = oldGnuSparseExtension(await reader.exactly(BLOCK_BYTES, 'a sparse map'));
    parts.push(...extension.parts);
    if (parts.length > MAX_SPARSE_PARTS) throw malformed('a sparse file has too many parts');
    more = extension.more;
  }
  return parts;
}

/** The PAX records in effect, by keyword. */
class PaxFields {
  readonly #records: Map<string, PaxRecord>;

  constructor(records: PaxRecord[]) {
    this.#records = new Map(records.map((record) => [record.keyword, record]));
  }

  /**
   * Returns the value for a keyword; `undefined` if there is no such record or its value is empty, which means that a global record is
   * revoked.
   */
  get(keyword: string): Buffer | undefined {
    const value = this.#records.get(keyword)?.value;
    return value === undefined || value.length === 0 ? undefined : value;
  }

  integer(keyword: string): number | undefined {
    return this.get(keyword) === undefined ? undefined : paxInteger(this.#records.get(keyword)!);
  }

  time(keyword: string): number | undefined {
    return this.get(keyword) === undefined ? undefined : paxTime(this.#records.get(keyword)!);
  }

  xattrs(): Xattr[] {
    const prefix = 'SCHILY.xattr.';
    const found = [...this.#records.values()].filter(({ keyword }) => keyword.startsWith(prefix));
    // GNU tar escapes `=` and `%` in attribute names, because a PAX keyword cannot contain `=`
    return found.map(({ keyword, value }) => ({
      name: keyword.slice(prefix.length).replace(/%3D|%25/g, (code) => (code === '%25' ? '%' : '=')),
      value,
    }));
  }
}

function describe(raw: RawHeader, extensions: Extensions, records: PaxFields): TarHeader {
  const nameBytes = extensions.longName ?? records.get('GNU.sparse.name') ?? records.get('path') ?? raw.nameBytes;
  const linkBytes = extensions.longLink ?? records.get('linkpath') ?? raw.linkBytes;
  const type = entryType(raw.typeFlag, nameBytes);
  const { typeFlag: _typeFlag, ...fields } = raw;
  const header: TarHeader = {
    ...fields,
    type,
    name: nameBytes.toString('utf8'),
    nameBytes,
    linkName: linkBytes.toString('utf8'),
    linkBytes,
    uid: records.integer('uid') ?? raw.uid,
    gid: records.integer('gid') ?? raw.gid,
    // links, devices and directories have no body, regardless of the size in their header
    size: type === 'file' ? (records.integer('size') ?? raw.size) : 0,
    mtimeSeconds: records.time('mtime') ?? raw.mtimeSeconds,
    xattrs: records.xattrs(),
  };
  checkRanges(header);
  return header;
}

function entryType(flag: string, name: Buffer): TarEntryType {
  const type = Object.hasOwn(entryTypes, flag) ? entryTypes[flag]! : undefined;
  if (type === undefined) {
    throw new PodwrightError(
      'unimplemented',
      `read tar archive: ${name} is of the unknown type ${JSON.stringify(flag)}`,
    );
  }
  // formats older than ustar mark directories only by a trailing slash in the name
  return type === 'file' && flag === '\0' && name.at(-1) === 0x2f ? 'directory' : type;
}

function checkRanges(header: TarHeader): void {
  const { uid, gid, size, name } = header;
  if (header.nameBytes.includes(0) || header.linkBytes.includes(0)) throw malformed('a name contains a null byte');
  if (uid < 0 || uid > MAX_ID || gid < 0 || gid > MAX_ID) throw malformed(`${name} has the owner ${uid}:${gid}`);
  if (size < 0) throw malformed(`${name} has the size ${size}`);
}
