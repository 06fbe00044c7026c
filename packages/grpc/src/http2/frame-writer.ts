import type { Duplex } from 'node:stream';
import { PodwrightError } from '@podwright/base';
import { MAX_UNREAD_ANSWERS } from '../limits.ts';

/** Writes frames to a socket whose peer might not be reading. */
export class FrameWriter {
  readonly #socket: Duplex;
  readonly #onFlood: (error: PodwrightError) => void;
  /** Number of acknowledgements that the peer has yet to read. */
  #unreadAnswers = 0;
  /** Acknowledgements queued while `together` is running; otherwise `undefined`. */
  #answers: Buffer[] | undefined;

  /** `onDrain` is called when the socket accepts data again, `onFlood` when the peer leaves too many acknowledgements unread. */
  constructor(socket: Duplex, { onDrain, onFlood }: { onDrain: () => void; onFlood: (error: PodwrightError) => void }) {
    this.#socket = socket;
    this.#onFlood = onFlood;
    socket.on('drain', () => {
      this.#unreadAnswers = 0;
      onDrain();
    });
  }

  /** Whether data should be held back until the peer has read more. */
  get isBlocked(): boolean {
    return this.#socket.writableNeedDrain;
  }

  /**
   * Writes a frame, passed in pieces, in a single write. Queued acknowledgements are written before it, because the frame may depend on one
   * of them.
   */
  write(...pieces: Buffer[]): void {
    const before = this.#answers?.splice(0) ?? [];
    if (before.length > 0) this.#writeAnswers(before);
    if (pieces.length === 1) return void this.#socket.write(pieces[0]);
    this.#socket.cork();
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.uncork();
  }

  /** Runs `work`, then writes the acknowledgements that it queued in a single write, even if `work` throws. */
  together(work: () => void): void {
    const answers: Buffer[] = [];
    this.#answers = answers;
    try {
      work();
    } finally {
      this.#answers = undefined;
      if (answers.length > 0) this.#writeAnswers(answers);
    }
  }

  /**
   * Writes or queues an acknowledgement of one of the peer's frames. The number of acknowledgements that a peer may leave unread is
   * limited.
   */
  answer(frame: Buffer): void {
    if (this.#answers === undefined) this.#writeAnswers([frame]);
    else this.#answers.push(frame);
  }

  #writeAnswers(frames: Buffer[]): void {
    if (this.#socket.writableEnded) return; // a write after the end is an error, which would discard data in flight
    this.#unreadAnswers = this.#socket.writableLength === 0 ? 0 : this.#unreadAnswers + frames.length;
    if (this.#unreadAnswers <= MAX_UNREAD_ANSWERS) this.#socket.write(Buffer.concat(frames));
    else this.#onFlood(new PodwrightError('resource_exhausted', 'HTTP/2: a flood'));
  }
}
