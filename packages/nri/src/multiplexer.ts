import { Duplex } from 'node:stream';
import { PodwrightError } from '@podwright/base';

/** Connection ID for calls to the plugin (containerd/nri, pkg/net/multiplex). */
export const PLUGIN_SERVICE = 1;
/** Connection ID for calls to the container runtime. */
export const RUNTIME_SERVICE = 2;

/** Size of a frame header: connection ID and payload length, both big-endian. */
const HEADER_BYTES = 8;
/** Maximum payload length: the largest ttrpc frame, including its 10-byte header. */
const MAX_PAYLOAD_BYTES = 10 + (4 << 20);
/**
 * Maximum payload of a write's first frame. The Go receiver uses a single read per frame, first into a buffer of this size, and then into
 * one for the rest of the message. A longer first frame would not fit.
 */
const FIRST_PAYLOAD_BYTES = 4096;

/**
 * Multiplexes connections over one stream, as in NRI: each frame's header contains its connection ID. Both sides open connections with the
 * same IDs; frames with unknown IDs are ignored. When the stream ends, all connections end.
 */
export class Multiplexer {
  readonly #trunk: Duplex;
  readonly #connections = new Map<number, MultiplexedConnection>();
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerSize = 0;
  /** The payload being received, and the number of bytes still missing. */
  #current: { connection: MultiplexedConnection | undefined; left: number } | undefined;

  constructor(trunk: Duplex) {
    this.#trunk = trunk;
    trunk.on('data', (chunk: Buffer) => this.#read(chunk));
    trunk.on('end', () => trunk.destroy());
    trunk.on('error', () => undefined); // `close` follows
    trunk.on('close', () => this.#end());
  }

  /** Opens a connection. Each ID can only be opened once. */
  open(id: number): Duplex {
    const connection = new MultiplexedConnection({
      write: (chunk, written) => this.#write(id, chunk, written),
      resume: () => void this.#trunk.resume(),
      close: () => this.close(),
    });
    this.#connections.set(id, connection);
    return connection;
  }

  /** Closes the stream and all connections. */
  close(): void {
    this.#trunk.destroy();
    this.#end();
  }

  #end(): void {
    for (const connection of this.#connections.values()) connection.destroy();
    this.#connections.clear();
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) rest = this.#current === undefined ? this.#readHeader(rest) : this.#readPayload(rest);
  }

  /** Consumes header bytes and returns the remaining bytes. */
  #readHeader(bytes: Buffer): Buffer {
    const size = bytes.copy(this.#header, this.#headerSize);
    this.#headerSize += size;
    if (this.#headerSize < HEADER_BYTES) return bytes.subarray(size);
    this.#headerSize = 0;
    const left = this.#header.readUInt32BE(4);
    if (left > MAX_PAYLOAD_BYTES) {
      this.close();
      return Buffer.alloc(0);
    }
    if (left > 0) this.#current = { connection: this.#connections.get(this.#header.readUInt32BE(0)), left };
    return bytes.subarray(size);
  }

  #readPayload(bytes: Buffer): Buffer {
    const current = this.#current!;
    const payload = bytes.subarray(0, current.left);
    current.left -= payload.length;
    if (current.left === 0) this.#current = undefined;
    if (current.connection !== undefined && !current.connection.destroyed && !current.connection.push(payload))
      this.#trunk.pause();
    return bytes.subarray(payload.length);
  }

  #write(id: number, chunk: Buffer, written: (error?: Error | null) => void): void {
    if (this.#trunk.destroyed) return written(new PodwrightError('unavailable', 'the NRI connection is closed'));
    const first = chunk.subarray(0, FIRST_PAYLOAD_BYTES);
    const rest = chunk.subarray(FIRST_PAYLOAD_BYTES);
    const frames = rest.length === 0 ? [header(id, first), first] : [header(id, first), first, header(id, rest), rest];
    this.#trunk.write(Buffer.concat(frames), written);
  }
}

function header(id: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES);
  bytes.writeUInt32BE(id, 0);
  bytes.writeUInt32BE(payload.length, 4);
  return bytes;
}

type Trunk = {
  write(chunk: Buffer, written: (error?: Error | null) => void): void;
  resume(): void;
  close(): void;
};

/** A connection of a multiplexer. Destroying it closes the whole multiplexer, because NRI's two connections end together. */
class MultiplexedConnection extends Duplex {
  readonly #owner: Trunk;

  constructor(trunk: Trunk) {
    super();
    this.#owner = trunk;
  }

  override _read(): void {
    this.#owner.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: (error?: Error | null) => void): void {
    this.#owner.write(chunk, written);
  }

  override _destroy(error: Error | null, destroyed: (error?: Error | null) => void): void {
    destroyed(error);
    this.#owner.close();
  }
}
