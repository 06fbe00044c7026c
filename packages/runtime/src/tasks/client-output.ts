import { Readable } from 'node:stream';
import { PodwrightError } from '@podwright/base';

/** Size of a block of pending output. Small packets share a block, because a buffer takes far more memory than one byte. */
const BLOCK_BYTES = 8 * 1024;

/** Output pending for a client. Accepts any amount; the writer is expected to check `waitingBytes`. */
export class ClientOutput {
  readonly stream: Readable;
  readonly #waiting: { block: Buffer; usedBytes: number }[] = [];
  #waitingBytes = 0;
  #wanted = false;
  #ended = false;

  /** `onRead` is called after the client has read some of the output. */
  constructor(onRead: () => void) {
    this.stream = new Readable({
      highWaterMark: 1, // one block, which may contain a single byte
      read: () => {
        this.#wanted = true;
        this.#pass();
        onRead();
      },
    });
    this.stream.on('error', () => undefined); // the output that a client does not request has no other listener
  }

  /** Bytes of memory held by output that the client has not read yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Queues a copy of the packet for the client. */
  write(packet: Buffer): void {
    if (this.#ended) return;
    if (this.#wanted && this.#waiting.length === 0) this.#wanted = this.stream.push(Buffer.from(packet));
    else this.#append(packet);
  }

  /** Ends the stream after all of its output. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#waiting.length === 0) this.stream.push(null);
  }

  /** Discards the pending output, and destroys the stream with this error. */
  fail(error: Error): void {
    this.#ended = true;
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
    this.stream.destroy(error);
  }

  #append(packet: Buffer): void {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.block.length - last.usedBytes >= packet.length) {
      last.usedBytes += packet.copy(last.block, last.usedBytes);
      return;
    }
    const block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, packet.length));
    this.#waiting.push({ block, usedBytes: packet.copy(block) });
    this.#waitingBytes += block.length;
  }

  #pass(): void {
    while (this.#wanted) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#waitingBytes -= next.block.length;
      this.#wanted = this.stream.push(next.block.subarray(0, next.usedBytes));
    }
    if (this.#ended && this.#waiting.length === 0) this.stream.push(null);
  }
}

export type SlowClientLimits = {
  /** Maximum pending output, in bytes. When this is reached, reading pauses until the client has read half of it. */
  bufferBytes: number;
  /** How long reading may pause before the client is disconnected; `undefined` for no limit. */
  patienceMs: number | undefined;
};

/** Decides when a process has to wait for its client, and when to disconnect the client instead. */
export class ClientPace {
  readonly #outputs: ClientOutput[];
  readonly #limits: SlowClientLimits;
  #heldSinceMs: number | undefined;
  /** Additional buffer size for the last output; set once the process has exited and no longer waits for the client. */
  #extraBytes: number | undefined;

  constructor(outputs: ClientOutput[], limits: SlowClientLimits) {
    this.#outputs = outputs;
    this.#limits = limits;
  }

  /** Whether reading the process's output has to pause until the clients have read more. */
  isHeld(): boolean {
    const waitingBytes = this.#outputs.reduce((sum, output) => sum + output.waitingBytes, 0);
    const fullBytes = this.#limits.bufferBytes + (this.#extraBytes ?? 0);
    if (waitingBytes >= fullBytes) this.#heldSinceMs ??= performance.now();
    else if (waitingBytes <= fullBytes / 2) this.#heldSinceMs = undefined;
    return this.#heldSinceMs !== undefined;
  }

  /** Makes room, once, for the last output of a process that has exited. From then on, a full buffer disconnects the client immediately. */
  makeRoom(bytes: number): void {
    if (this.#extraBytes !== undefined) return;
    this.#extraBytes = bytes;
    this.#heldSinceMs = undefined;
  }

  /** Whether the client has to be disconnected because it reads too slowly. */
  isTooSlow(): boolean {
    if (!this.isHeld()) return false;
    const patienceMs = this.#extraBytes === undefined ? this.#limits.patienceMs : 0;
    return patienceMs !== undefined && performance.now() - this.#heldSinceMs! >= patienceMs;
  }
}

/** The error for a client that is disconnected because it cannot keep up with the output. */
export function tooSlow(what: string): PodwrightError {
  return new PodwrightError(
    'resource_exhausted',
    `${what}: the client was disconnected because the container had to wait until it read the output`,
  );
}
