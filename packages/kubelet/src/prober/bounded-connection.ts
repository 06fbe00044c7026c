import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { probeLookups } from '@podwright/base';

/** Number of bytes passed to the parser at a time; the connection can only be destroyed between such slices. */
const SLICE_BYTES = 4 << 10;

/** Length of a TLS record header, which is also that of `HTTP/`: enough bytes to distinguish TLS from plain HTTP. */
const BEGINNING_BYTES = 5;

/** Limits on what a server may send in one call (a probe or an HTTP hook), across all of the call's connections. */
export type AnswerLimits = {
  /** Maximum number of bytes read from the network. */
  bytes: number;
  /** Maximum number of network reads plus other events that the caller counts, such as body chunks and frames. */
  events: number;
};

/**
 * Tracks how much of one call's limits is left. Each read and each body chunk costs CPU time, however short it is, and the probed server
 * controls how many there are. With a deadline alone, the server could keep a CPU busy until the deadline.
 */
export class AnswerBudget {
  #bytes: number;
  #events: number;

  constructor({ bytes, events }: AnswerLimits) {
    this.#bytes = bytes;
    this.#events = events;
  }

  /** True if the response has exceeded the limits. */
  get isSpent(): boolean {
    return this.#bytes < 0 || this.#events < 0;
  }

  /** Counts one event that carried this many bytes from the network. Returns false once the limits are exceeded. */
  spend(bytes: number): boolean {
    this.#bytes -= bytes;
    this.#events--;
    return !this.isSpent;
  }
}

/** A TCP connection that is destroyed with an error if the peer sends more than the budget allows. */
export class BoundedConnection extends Duplex {
  readonly #socket: Socket;
  readonly #budget: AnswerBudget;
  #beginning = '';

  /** `host`: a host name, or an IP address without brackets. */
  constructor({ host, port }: { host: string; port: number }, budget: AnswerBudget) {
    super();
    this.#budget = budget;
    this.#socket = connect({ host, port, lookup: probeLookups.lookup });
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#socket.on('end', () => this.push(null));
    this.#socket.on('error', (error) => this.destroy(error));
    this.#socket.on('close', () => this.destroy());
  }

  /** The first bytes received, enough to distinguish plain HTTP from TLS. */
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
