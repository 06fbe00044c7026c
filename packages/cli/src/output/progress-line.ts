import { canRedraw } from './terminal.ts';
import { escapeLine } from './terminal-text.ts';
import { fit } from './text-width.ts';

/** A progress line that is redrawn in place on a terminal. If the output is not a terminal, prints a line at most every two seconds. */
export class ProgressLine {
  readonly #out: NodeJS.WriteStream;
  readonly #inPlace: boolean;
  #lastAtMs = 0;
  #drawn = false;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
    this.#inPlace = canRedraw(out);
    if (!this.#inPlace) this.#lastAtMs = Date.now(); // short operations print no line
  }

  show(text: string): void {
    const line = escapeLine(text);
    const now = Date.now();
    if (now - this.#lastAtMs < (this.#inPlace ? 80 : 2000)) return;
    this.#lastAtMs = now;
    if (this.#inPlace) this.#out.write(`\r\x1b[K${fit(line, (this.#out.columns || 80) - 1)}`);
    else this.#out.write(`${line}\n`);
    this.#drawn = this.#inPlace;
  }

  /** Clears the line to make room for other output. */
  end(): void {
    if (this.#drawn) this.#out.write('\r\x1b[K');
    this.#drawn = false;
  }
}
