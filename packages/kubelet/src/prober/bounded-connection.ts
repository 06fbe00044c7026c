import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Bytes handed on at once: what a parser makes of them is done before the connection can be ended. */
const SLICE_BYTES = 4 << 10;

/** The head of a TLS record, or `HTTP/`. */
const BEGINNING_BYTES = 5;

/** What one call may cost, over all its connections. */
export type AnswerLimits = {
  /** Bytes read from the network. */
  bytes: number;
  /** Reads from the network, and whatever else the caller counts: pieces of a body, frames. */
  events: number;
};

/**
 * What is left of the limits of one call. The target of a probe chooses how it answers, and each read and each piece of a body
 * costs the kubelet time, however short it is: a deadline alone would let it have a processor until then.
 */
export class AnswerBudget {
  #bytes: number;
  #events: number;

  constructor({ bytes, events }: AnswerLimits) {
    this.#bytes = bytes;
    this.#events = events;
  }

  /** True when the answer was larger than the limits. */
  get isSpent(): boolean {
    return this.#bytes < 0 || this.#events < 0;
  }

  /** Counts one event that brought so many bytes from the network; false if that was too much. */
  spend(bytes: number): boolean {
    this.#bytes -= bytes;
    this.#events--;
    return !this.isSpent;
  }
}

/** A TCP connection that is destroyed with an error once the other side has sent more than a budget allows. */
export class BoundedConnection extends Duplex {
  readonly #socket: Socket;
  readonly #budget: AnswerBudget;
  #beginning = '';

  /** `host` is a name or an address without brackets. */
  constructor({ host, port }: { host: string; port: number }, budget: AnswerBudget) {
    super();
    this.#budget = budget;
    this.#socket = connect({ host, port });
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#socket.on('end', () => this.push(null));
    this.#socket.on('error', (error) => this.destroy(error));
    this.#socket.on('close', () => this.destroy());
  }

  /** The first bytes that came, as many as tell one protocol from another. */
  get beginning(): string {
    return this.#beginning;
  }

  #take(chunk: Buffer): void {
    if (this.#beginning.length < BEGINNING_BYTES)
      this.#beginning += chunk.toString('latin1', 0, BEGINNING_BYTES - this.#beginning.length);
    for (let start = 0; start < chunk.length && !this.destroyed; start += SLICE_BYTES) {
      const slice = chunk.subarray(start, start + SLICE_BYTES);
      if (!this.#budget.spend(slice.length)) this.destroy(new Error('the answer is too large'));
      else if (!this.push(slice)) this.#socket.pause();
    }
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, callback);
  }

  override _final(callback: () => void): void {
    this.#socket.end(callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#socket.destroy();
    callback(error);
  }
}
