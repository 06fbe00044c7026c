import { Duplex } from 'node:stream';
import { PodwrightError } from '@podwright/base';
import type { SpdyHeaders } from './header-block.ts';

/** What a stream needs of its connection. */
export type StreamCarrier = {
  /** Sends data frames; `done` is called when the transport has taken the last of them. */
  send(streamId: number, payload: Buffer, options: { fin: boolean; done: (error?: Error | null) => void }): void;
  /** Tells the other side that the stream is of no more interest. */
  reset(streamId: number): void;
  /** The stream's reader has caught up. */
  resume(stream: SpdyStream): void;
  /** Nothing more will come for the stream. */
  forget(stream: SpdyStream): void;
};

/**
 * One stream of a connection: a duplex byte stream whose halves end on their own.
 *
 * A stream that the other side resets, or that is lost with its connection, reads as its end after what was received:
 * Go's servers reset the streams of a command that ended well. `cut` tells such an end from a proper one. Writing
 * to it fails. An 'error' without a listener is not thrown.
 */
export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: SpdyHeaders;
  readonly #carrier: StreamCarrier;
  #remoteEnded = false;
  #localEnded = false;
  #lost = false;
  #cut = false;

  constructor(carrier: StreamCarrier, id: number, headers: SpdyHeaders) {
    super({ allowHalfOpen: true });
    this.id = id;
    this.headers = headers;
    this.#carrier = carrier;
    this.on('error', () => undefined);
  }

  /** True when the other side's data did not end by its own end: some may be missing. */
  get cut(): boolean {
    return this.#cut;
  }

  override _read(): void {
    this.#carrier.resume(this);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#lost) done(new PodwrightError('cancelled', `write to SPDY stream ${this.id}: it was reset`));
    else this.#carrier.send(this.id, chunk, { fin: false, done });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#localEnded = true;
    if (this.#lost) return done();
    // A connection that is gone has taken the stream along: then there is no other side to tell.
    this.#carrier.send(this.id, Buffer.alloc(0), { fin: true, done: () => done() });
    if (this.#remoteEnded) this.#carrier.forget(this);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#lost && !(this.#remoteEnded && this.#localEnded)) this.#carrier.reset(this.id);
    this.#carrier.forget(this);
    done(error);
  }

  /** @internal False when the reader has fallen behind. */
  deliver(payload: Buffer): boolean {
    return this.#remoteEnded || this.destroyed || this.push(payload);
  }

  /** @internal The other side will write no more. */
  deliverEnd(): void {
    if (this.#remoteEnded || this.destroyed) return;
    this.#remoteEnded = true;
    this.push(null);
    if (this.#localEnded) this.#carrier.forget(this);
  }

  /** @internal The stream is gone on the other side; what was received can still be read. */
  deliverLoss(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#cut = !this.#remoteEnded;
    this.deliverEnd();
    this.#carrier.forget(this);
    const unreadOrRead = this.readableLength > 0 || this.readableFlowing !== null;
    if (unreadOrRead && !this.readableEnded) this.once('end', () => this.destroy());
    else this.destroy();
  }
}
