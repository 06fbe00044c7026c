import { Duplex } from 'node:stream';
import { Timer } from '@podwright/base';

/**
 * One end of an in-process connection. It implements those functions of a network socket that HTTP servers and their handlers call. What is
 * written to one end is read from the other, with backpressure.
 */
class PairedSocket extends Duplex {
  #peer: PairedSocket | undefined;
  #resumePeer: (() => void) | undefined;
  #idle: Timer | undefined;

  constructor() {
    super({ allowHalfOpen: true });
  }

  join(peer: PairedSocket): void {
    this.#peer = peer;
  }

  /** Emits `timeout` and calls `onTimeout` after a period without traffic. 0 disables the timeout. */
  setTimeout(...given: [durationMs: number, onTimeout?: () => void]): this {
    const [durationMs, onTimeout] = given;
    this.#idle?.[Symbol.dispose]();
    this.#idle = durationMs === 0 ? undefined : new Timer(() => this.emit('timeout'), durationMs).unref();
    if (onTimeout !== undefined) this.once('timeout', onTimeout);
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  override _read(): void {
    const resume = this.#resumePeer;
    this.#resumePeer = undefined;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    const peer = this.#peer!;
    this.#idle?.refresh();
    if (peer.destroyed || peer.readableEnded) return done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    peer.#idle?.refresh();
    if (peer.push(chunk)) done();
    else peer.#resumePeer = done;
  }

  override _final(done: (error?: Error) => void): void {
    if (!this.#peer!.destroyed) this.#peer!.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#idle?.[Symbol.dispose]();
    this._read(); // a waiting writer finds this end closed
    const peer = this.#peer!;
    if (!this.writableFinished && !peer.destroyed)
      peer.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
    done(error);
  }
}

/** Returns the two ends of a new connection. */
export function socketPair(): [Duplex, Duplex] {
  const [one, other] = [new PairedSocket(), new PairedSocket()];
  one.join(other);
  other.join(one);
  return [one, other];
}
