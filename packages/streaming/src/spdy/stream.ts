import { Duplex } from 'node:stream';
import { PodwrightError } from '@podwright/base';
import type { SpdyHeaders } from './header-block.ts';

/** The connection operations that a stream needs. */
export type StreamCarrier = {
  /** Sends data frames. Calls `done` when the transport has accepted the last one. */
  send(streamId: number, payload: Buffer, options: { fin: boolean; done: (error?: Error | null) => void }): void;
  /** Sends the peer a reset for the stream. */
  reset(streamId: number): void;
  /** Called when the stream's reader has caught up after falling behind. */
  resume(stream: SpdyStream): void;
  /** Called when the stream has ended in both directions. */
  forget(stream: SpdyStream): void;
};

/**
 * One of a connection's streams: a duplex byte stream whose directions end independently.
 *
 * If the peer resets the stream or the connection is lost, the reader receives the data so far and then a normal end, because Go's servers
 * reset the streams even of successful commands. `cut` distinguishes the two cases. Writing to such a stream fails. An 'error' event without a
 * listener is not thrown.
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

  /** Whether the peer's data ended improperly, so that some of it might be missing. */
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
    // if the connection has been lost, the stream is lost too, and there is no peer to notify
    this.#carrier.send(this.id, Buffer.alloc(0), { fin: true, done: () => done() });
    if (this.#remoteEnded) this.#carrier.forget(this);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#lost && !(this.#remoteEnded && this.#localEnded)) this.#carrier.reset(this.id);
    this.#carrier.forget(this);
    done(error);
  }

  /** @internal Called with received data. Returns false if the reader has fallen behind. */
  deliver(payload: Buffer): boolean {
    return this.#remoteEnded || this.destroyed || this.push(payload);
  }

  /** @internal Called when the peer has ended its direction. */
  deliverEnd(): void {
    if (this.#remoteEnded || this.destroyed) return;
    this.#remoteEnded = true;
    this.push(null);
    if (this.#localEnded) this.#carrier.forget(this);
  }

  /** @internal Called when the stream has been reset or lost. Received data can still be read. */
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
