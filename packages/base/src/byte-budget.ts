/** A share of a byte budget: the memory used by one piece of work. */
export type ByteShare = Disposable & {
  /**
   * Reserves bytes of the budget until this share is disposed of. If the budget does not have enough left, reserves nothing and returns
   * false.
   */
  reserve(bytes: number): boolean;
};

/** Limits the total memory that concurrent work uses, for example for its buffers. */
export class ByteBudget {
  #freeBytes: number;

  constructor(totalBytes: number) {
    this.#freeBytes = totalBytes;
  }

  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** Opens a share of the budget. Dispose of it once the memory that it stands for is no longer referenced. */
  open(): ByteShare {
    let takenBytes = 0;
    return {
      reserve: (bytes) => {
        if (bytes > this.#freeBytes) return false;
        this.#freeBytes -= bytes;
        takenBytes += bytes;
        return true;
      },
      [Symbol.dispose]: () => {
        this.#freeBytes += takenBytes;
        takenBytes = 0;
      },
    };
  }
}
