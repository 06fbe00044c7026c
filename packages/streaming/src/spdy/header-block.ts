import { PodwrightError } from '@podwright/base';
import { Deflate, Inflate, Z_SYNC_FLUSH } from 'pako';
import { spdyDictionary } from './dictionary.ts';

/** Names in lower case; SPDY joins several values of a name with a NUL. */
export type SpdyHeaders = Record<string, string>;

/** Clients send some hundred bytes. What is taken stays as long as its stream, of which a connection may have 512. */
const MAX_BLOCK_BYTES = 16 << 10;
const MAX_HEADERS = 256;

/**
 * Packs and unpacks the header blocks of one connection (section 2.6.10). Both zlib streams last as long as the
 * connection, so blocks must be given in the order of the wire, and after an error neither can be used again.
 */
export class HeaderCodec {
  readonly #inflate: Inflate;
  readonly #deflate: Deflate;
  #inflated: Uint8Array[] = [];
  #inflatedBytes = 0;
  #deflated: Uint8Array[] = [];

  constructor() {
    const dictionary = spdyDictionary();
    this.#inflate = new Inflate({ dictionary, chunkSize: 16 << 10 });
    this.#inflate.onData = (chunk) => {
      this.#inflatedBytes += chunk.length;
      if (this.#inflatedBytes > MAX_BLOCK_BYTES) throw tooLarge();
      this.#inflated.push(chunk);
    };
    this.#deflate = new Deflate({ dictionary, level: 1 });
    this.#deflate.onData = (chunk) => {
      this.#deflated.push(chunk);
    };
  }

  decode(block: Buffer): SpdyHeaders {
    this.#inflated = [];
    this.#inflatedBytes = 0;
    this.#inflate.push(block, Z_SYNC_FLUSH);
    if (this.#inflate.err)
      throw new PodwrightError(
        'invalid_argument',
        `unpack SPDY headers: ${this.#inflate.msg || `zlib error ${this.#inflate.err}`}`,
      );
    return parsePairs(Buffer.concat(this.#inflated));
  }

  encode(headers: SpdyHeaders): Buffer {
    const entries = Object.entries(headers);
    const parts = [lengthOf(entries.length)];
    for (const [name, value] of entries) {
      for (const text of [name.toLowerCase(), value]) parts.push(lengthOf(Buffer.byteLength(text)), Buffer.from(text));
    }
    this.#deflated = [];
    this.#deflate.push(Buffer.concat(parts), Z_SYNC_FLUSH);
    return Buffer.concat(this.#deflated);
  }
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

const cutOff = () => new PodwrightError('invalid_argument', 'unpack SPDY headers: the block is cut off');
const tooLarge = () =>
  new PodwrightError(
    'resource_exhausted',
    `unpack SPDY headers: more than ${MAX_HEADERS} headers or ${MAX_BLOCK_BYTES} bytes`,
  );
