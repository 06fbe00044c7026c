import { PodwrightError } from '@podwright/base';
import { Inflate, Z_SYNC_FLUSH } from 'pako';
import { spdyDictionary } from './dictionary.ts';

/** Header values by name. Names are in lower case. SPDY separates multiple values of one name with a NUL. */
export type SpdyHeaders = Record<string, string>;

/**
 * Header block limits. Clients send a few hundred bytes. Accepted headers are retained with their stream, and a connection may have 512
 * streams.
 */
const MAX_BLOCK_BYTES = 16 << 10;
const MAX_HEADERS = 256;

/**
 * Encodes and decodes a connection's header blocks (draft-mbelshe-httpbis-spdy-00, section 2.6.10). Each direction is one zlib stream for
 * the whole connection, so blocks must be processed in wire order, and none may be processed after an error.
 */
export class HeaderCodec {
  readonly #inflate: Inflate;
  #inflated: Uint8Array[] = [];
  #inflatedBytes = 0;
  #begun = false;

  constructor() {
    this.#inflate = new Inflate({ dictionary: spdyDictionary(), chunkSize: 16 << 10 });
    this.#inflate.onData = (chunk) => {
      this.#inflatedBytes += chunk.length;
      if (this.#inflatedBytes > MAX_BLOCK_BYTES) throw tooLarge();
      this.#inflated.push(chunk);
    };
  }

  decode(block: Buffer): SpdyHeaders {
    this.#inflated = [];
    this.#inflatedBytes = 0;
    this.#inflate.push(block, Z_SYNC_FLUSH);
    if (this.#inflate.err)
      throw new PodwrightError(
        'invalid_argument',
        `decompress SPDY headers: ${this.#inflate.msg || `zlib error ${this.#inflate.err}`}`,
      );
    return parsePairs(Buffer.concat(this.#inflated));
  }

  encode(headers: SpdyHeaders): Buffer {
    const entries = Object.entries(headers);
    const parts = [lengthOf(entries.length)];
    for (const [name, value] of entries) {
      for (const text of [name.toLowerCase(), value]) parts.push(lengthOf(Buffer.byteLength(text)), Buffer.from(text));
    }
    const begin = this.#begun ? [] : [ZLIB_HEAD];
    this.#begun = true;
    return Buffer.concat([...begin, ...stored(Buffer.concat(parts)), FLUSH]);
  }
}

/** Start of a zlib stream (RFC 1950): a 32 KiB window, and the Adler-32 checksum of SPDY's dictionary. */
const ZLIB_HEAD = Buffer.from('7820e3c6a7c2', 'hex');
/** An empty stored block (RFC 1951, 3.2.4). Like zlib's Z_SYNC_FLUSH, it makes receivers deliver the data received so far. */
const FLUSH = Buffer.from('000000ffff', 'hex');
const MAX_STORED_BYTES = 0xffff;

/**
 * Encodes data as stored (uncompressed) blocks. For a few dozen bytes, a compressor is not worth the 10 ms per command that loading and
 * priming it takes.
 */
function stored(data: Buffer): Buffer[] {
  const blocks = [];
  for (let offset = 0; offset < data.length; offset += MAX_STORED_BYTES) {
    const part = data.subarray(offset, offset + MAX_STORED_BYTES);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(part.length, 1);
    head.writeUInt16LE(part.length ^ 0xffff, 3);
    blocks.push(head, part);
  }
  return blocks;
}

function parsePairs(block: Buffer): SpdyHeaders {
  let offset = 0;
  const number = () => {
    if (offset + 4 > block.length) throw cutOff();
    offset += 4;
    return block.readUInt32BE(offset - 4);
  };
  const text = () => {
    const length = number();
    if (length > block.length - offset) throw cutOff();
    offset += length;
    return block.toString('utf8', offset - length, offset);
  };
  const count = number();
  if (count > MAX_HEADERS) throw tooLarge();
  const headers: SpdyHeaders = {};
  for (let index = 0; index < count; index++) {
    const name = text().toLowerCase();
    headers[name] = text();
  }
  return headers;
}

function lengthOf(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const cutOff = () => new PodwrightError('invalid_argument', 'decompress SPDY headers: the block is truncated');
const tooLarge = () =>
  new PodwrightError(
    'resource_exhausted',
    `decompress SPDY headers: more than ${MAX_HEADERS} headers or ${MAX_BLOCK_BYTES} bytes`,
  );
