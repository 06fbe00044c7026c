/** Size of a first buffer, in bytes: most programs and answers are shorter. */
const FIRST_BYTES = 4096;

/**
 * Gathers bytes that come in chunks, up to a bound. They are copied into one buffer that doubles as it fills: a list of chunks
 * would cost about a kilobyte for each, however short it is, and it is the writer who chooses how long they are.
 */
export class BoundedBytes {
  readonly #maxBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #sizeBytes = 0;
  #isCut = false;

  /** `maxBytes` is the most that is kept. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that are kept. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Whether something was left out, because it did not fit. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Keeps what still fits of a chunk, which may be used again afterwards. */
  add(chunk: Uint8Array): void {
    const fits = Math.min(chunk.length, this.#maxBytes - this.#sizeBytes);
    if (fits < chunk.length) this.#isCut = true;
    if (fits <= 0) return;
    this.#makeRoom(this.#sizeBytes + fits);
    this.#buffer.set(fits === chunk.length ? chunk : chunk.subarray(0, fits), this.#sizeBytes);
    this.#sizeBytes += fits;
  }

  /** What is kept. Not a copy: valid until more is added. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#sizeBytes);
  }

  /** Forgets what is kept, and keeps the room for more. */
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

/** All bytes of a stream of at most `maxBytes`; beyond that it rejects with what `refusal` makes, and reads no further. */
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
