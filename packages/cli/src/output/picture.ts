import { displayWidth } from './text-width.ts';

/**
 * Lines at the bottom of a terminal that are redrawn in place. After Ctrl-Z and `fg`, the shell has written below them, so `onContinue` is
 * called, and the next drawing starts below the shell's output.
 */
export class Picture implements Disposable {
  readonly #out: NodeJS.WriteStream;
  readonly #continued: () => void;
  /** Width of each drawn line, in terminal cells. */
  #drawn: number[] = [];

  constructor(out: NodeJS.WriteStream, onContinue: () => void = () => undefined) {
    this.#out = out;
    this.#continued = () => {
      this.#drawn = [];
      onContinue();
    };
    process.on('SIGCONT', this.#continued);
  }

  /** Redraws the lines in a single write, to avoid flicker. The text `above` is printed before them and stays on the screen. */
  draw(lines: string[], above = ''): void {
    this.#out.write(this.#erasure() + above + lines.map((line) => `${line}\n`).join(''));
    this.#drawn = lines.map(displayWidth);
  }

  [Symbol.dispose](): void {
    process.off('SIGCONT', this.#continued);
  }

  /**
   * Returns the escape sequence that erases the drawn lines. It starts at the first column, because the terminal may have echoed `^C`, and
   * accounts for lines that wrap because the terminal has become narrower.
   */
  #erasure(): string {
    const width = this.#out.columns || 80;
    const rows = this.#drawn.reduce((sum, cells) => sum + Math.max(1, Math.ceil(cells / width)), 0);
    return rows === 0 ? '' : `\r\x1b[${rows}A\x1b[0J`;
  }
}
