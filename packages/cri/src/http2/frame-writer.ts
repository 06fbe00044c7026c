import type { Duplex } from 'node:stream';
import { PodwrightError } from '@podwright/base';
import { MAX_UNREAD_ANSWERS } from '../limits.ts';

/** Writes frames to a socket, whose other end may not read them. */
export class FrameWriter {
  readonly #socket: Duplex;
  readonly #onFlood: (error: PodwrightError) => void;
  /** Answers that the other side does not read. */
  #unreadAnswers = 0;
  /** Those that are to be written together. */
  #answers: Buffer[] | undefined;

  /** `onDrain` is called when it has read what was too much at once, `onFlood` when it never does. */
  constructor(socket: Duplex, { onDrain, onFlood }: { onDrain: () => void; onFlood: (error: PodwrightError) => void }) {
    this.#socket = socket;
    this.#onFlood = onFlood;
    socket.on('drain', () => {
      this.#unreadAnswers = 0;
      onDrain();
    });
  }

  /** Whether what is long should wait until the other side has read more. */
  get isBlocked(): boolean {
    return this.#socket.writableNeedDrain;
  }

  /** Writes frames that are in several pieces, at once; answers that came before go first, as one of them may allow these frames. */
  write(...pieces: Buffer[]): void {
    const before = this.#answers?.splice(0) ?? [];
    if (before.length > 0) this.#writeAnswers(before);
    if (pieces.length === 1) return void this.#socket.write(pieces[0]);
    this.#socket.cork();
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.uncork();
  }

  /** Has the answers that `work` gives written at once, also if it fails. */
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

  /** Writes what the other side has made us say, and should read: one that does not may make us keep only so many. */
  answer(frame: Buffer): void {
    if (this.#answers === undefined) this.#writeAnswers([frame]);
    else this.#answers.push(frame);
  }

  #writeAnswers(frames: Buffer[]): void {
    if (this.#socket.writableEnded) return; // a write after the end is an error, which would cut off what is on its way
    this.#unreadAnswers = this.#socket.writableLength === 0 ? 0 : this.#unreadAnswers + frames.length;
    if (this.#unreadAnswers <= MAX_UNREAD_ANSWERS) this.#socket.write(Buffer.concat(frames));
    else this.#onFlood(new PodwrightError('resource_exhausted', 'HTTP/2: a flood'));
  }
}
