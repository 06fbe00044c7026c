import { fit } from './table.ts';
import { escapeLine } from './terminal-text.ts';

/** One line that is drawn over and over on a terminal; elsewhere a line at most every two seconds. */
export class ProgressLine {
  readonly #out: NodeJS.WriteStream;
  #lastAtMs = 0;
  #drawn = false;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  show(text: string): void {
    const line = escapeLine(text);
    const now = Date.now();
    if (now - this.#lastAtMs < (this.#out.isTTY ? 80 : 2000)) return;
    this.#lastAtMs = now;
    if (this.#out.isTTY) this.#out.write(`\r\x1b[K${fit(line, (this.#out.columns || 80) - 1)}`);
    else this.#out.write(`${line}\n`);
    this.#drawn = this.#out.isTTY;
  }

  /** Clears the line, so that what comes next starts on a clean one. */
  end(): void {
    if (this.#drawn) this.#out.write('\r\x1b[K');
    this.#drawn = false;
  }
}
