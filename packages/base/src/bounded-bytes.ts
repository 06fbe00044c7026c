/** Size of the initial buffer; most outputs and responses fit in it. */
const FIRST_BYTES = 4096;

/**
 * Collects chunks of bytes up to a limit. The bytes are copied into a single buffer, which doubles when it is full. A list of chunks would
 * cost about a kilobyte per chunk, however small, and it is the sender who chooses the chunk size.
 */
export class BoundedBytes {
  readonly #maxBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #sizeBytes = 0;
  #isCut = false;

  /** Bytes beyond `maxBytes` are dropped. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Whether bytes were dropped because they exceeded the limit. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Copies as much of a chunk as fits. The caller may then reuse the chunk. */
  add(chunk: Uint8Array): void {
    const fits = Math.min(chunk.length, this.#maxBytes - this.#sizeBytes);
    if (fits < chunk.length) this.#isCut = true;
    if (fits <= 0) return;
    this.#makeRoom(this.#sizeBytes + fits);
    this.#buffer.set(fits === chunk.length ? chunk : chunk.subarray(0, fits), this.#sizeBytes);
    this.#sizeBytes += fits;
  }

  /** The stored bytes. This is not a copy: it is valid only until more bytes are added. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#sizeBytes);
  }

  /** Empties the buffer without freeing its memory. */
  clear(): void {
    this.#sizeBytes = 0;
    this.#isCut = false;
  }

  #makeRoom(neededBytes: number): void {
    if (neededBytes <= this.#buffer.length) return;
    const sizeBytes = Math.min(this.#maxBytes, Math.max(neededBytes, 2 * this.#buffer.length, FIRST_BYTES));
    const larger = Buffer.allocUnsafeSlow(sizeBytes);
    larger.set(this.bytes());
    this.#buffer = larger;
  }
}

/** Reads a whole stream of at most `maxBytes`. If the stream is longer, stops reading and rejects with the error returned by `refusal`. */
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
