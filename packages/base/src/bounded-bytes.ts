import type { ByteShare } from './byte-budget.ts';

/** Initial buffer size, large enough for most outputs and responses. */
const FIRST_BYTES = 4096;

/**
 * Collects chunks of bytes up to a limit. The bytes are copied into a single buffer that doubles in size when full. A list of chunks would
 * cost about a kilobyte per chunk, however small, and a malicious sender could send tiny ones.
 */
export class BoundedBytes {
  readonly #maxBytes: number;
  readonly #memory: Pick<ByteShare, 'reserve'> | undefined;
  readonly #firstBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #sizeBytes = 0;
  #isCut = false;

  /**
   * Bytes beyond `maxBytes` are dropped. Space beyond the initial buffer is reserved from `memory`; once a reservation fails, all further
   * bytes are dropped. `firstBytes`: size of the initial buffer, which is allocated when the first chunk is added.
   */
  constructor(maxBytes: number, memory?: Pick<ByteShare, 'reserve'>, firstBytes = FIRST_BYTES) {
    this.#maxBytes = maxBytes;
    this.#memory = memory;
    this.#firstBytes = Math.min(maxBytes, firstBytes);
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Whether bytes were dropped because of `maxBytes` or a failed reservation. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Copies as much of a chunk as fits. The caller may then reuse the chunk. */
  add(chunk: Uint8Array): void {
    const allowed = this.#isCut ? 0 : Math.min(chunk.length, this.#maxBytes - this.#sizeBytes);
    this.#makeRoom(this.#sizeBytes + allowed);
    const fits = Math.min(allowed, this.#buffer.length - this.#sizeBytes);
    if (fits < chunk.length) this.#isCut = true;
    if (fits <= 0) return;
    this.#buffer.set(fits === chunk.length ? chunk : chunk.subarray(0, fits), this.#sizeBytes);
    this.#sizeBytes += fits;
  }

  /** Returns the stored bytes without copying them. The result is valid only until more bytes are added. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#sizeBytes);
  }

  /** Empties the buffer without freeing its memory. */
  clear(): void {
    this.#sizeBytes = 0;
    this.#isCut = false;
  }

  /** Grows the buffer if necessary, as far as the memory budget permits. */
  #makeRoom(neededBytes: number): void {
    if (neededBytes <= this.#buffer.length) return;
    const firstBytes = this.#firstBytes;
    const ampleBytes = Math.min(this.#maxBytes, Math.max(neededBytes, 2 * this.#buffer.length, firstBytes));
    const heldBytes = Math.max(this.#buffer.length, firstBytes);
    const sizeBytes = [ampleBytes, neededBytes].find((bytes) => this.#reserve(bytes - heldBytes)) ?? firstBytes;
    if (sizeBytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(sizeBytes);
    larger.set(this.bytes());
    this.#buffer = larger;
  }

  #reserve(bytes: number): boolean {
    return bytes <= 0 || this.#memory === undefined || this.#memory.reserve(bytes);
  }
}

/** Reads an entire stream. If it exceeds `maxBytes`, stops reading and rejects with the error returned by `refusal`. */
export async function gatherBytes(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  refusal: () => Error,
): Promise<Buffer> {
  const gathered = new BoundedBytes(maxBytes);
  for await (const chunk of chunks) {
    gathered.add(chunk);
    if (gathered.isCut) throw refusal();
  }
  return gathered.bytes();
}
