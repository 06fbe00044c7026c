/** Part of a byte budget: the memory of one piece of work. */
export type ByteShare = Disposable & {
  /** Takes bytes from the budget until the share is disposed of. Returns false, and takes nothing, if fewer are free. */
  reserve(bytes: number): boolean;
};

/** Bounds the memory of concurrent pieces of work, such as buffers, in total. */
export class ByteBudget {
  #freeBytes: number;

  constructor(totalBytes: number) {
    this.#freeBytes = totalBytes;
  }

  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** Opens a share, which must be disposed of once its memory is no longer referenced. */
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
