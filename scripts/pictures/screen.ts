/** Style of characters; colors are those of SGR 31 to 36. */
export type Style = { colour: Colour | undefined; bold: boolean; dim: boolean };
export type Colour = (typeof COLOURS)[number];
/** A part of a line with a single style. */
export type Span = { text: string; style: Style };
/** The spans of a line, without trailing spaces. */
export type Line = Span[];

export const COLOURS = ['red', 'green', 'yellow', 'blue', 'magenta', 'cyan'] as const;
const PLAIN: Style = { colour: undefined, bold: false, dim: false };

type Cell = { character: string; style: Style };

/** A control sequence (ECMA-48, 5.4), either complete or truncated at the end of the text. */
const SEQUENCE = /\x1b(?:\[([\d;]*)([@-~])?)?/y;
/** Characters that occupy one cell: Latin, punctuation, arrows, box drawing. */
const NARROW = /[\x20-\x7e\u00a0-\u024f\u2010-\u2027\u2190-\u2193\u2500-\u257f]/;

/**
 * A terminal emulator with the features `podwright` uses: wrapping and scrolling, CR and LF, cursor up (CUU), erasing to the end of the
 * screen or line (ED, EL), colors (SGR). Any other sequence is an error, because the picture would be wrong.
 */
export class Screen {
  readonly #columns: number;
  readonly #rows: number;
  #cells: Cell[][] = [[]];
  #row = 0;
  #column = 0;
  #style = PLAIN;
  #pending = '';

  constructor(size: { columns: number; rows: number }) {
    this.#columns = size.columns;
    this.#rows = size.rows;
  }

  /** Writes output. A control sequence may be split across calls. */
  write(text: string): void {
    const all = this.#pending + text;
    this.#pending = '';
    for (let at = 0; at < all.length; ) {
      const character = all[at]!;
      if (character !== '\x1b') {
        this.#put(character);
        at += 1;
        continue;
      }
      SEQUENCE.lastIndex = at;
      const [sequence, parameters = '', final] = SEQUENCE.exec(all)!;
      if (final !== undefined) this.#act(final, parameters);
      else if (at + sequence.length < all.length) throw unknown(all.slice(at, at + 8));
      else this.#pending = sequence;
      at += sequence.length;
    }
  }

  get lines(): Line[] {
    return this.#cells.map(spansOf);
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') this.#nextLine();
    else if (!NARROW.test(character)) throw unknown(character);
    else {
      // A full line wraps only when the next character is written.
      if (this.#column === this.#columns) {
        this.#nextLine();
        this.#column = 0;
      }
      const line = this.#cells[this.#row]!;
      while (line.length < this.#column) line.push({ character: ' ', style: PLAIN });
      line[this.#column++] = { character, style: this.#style };
    }
  }

  #nextLine(): void {
    if (this.#row === this.#rows - 1) this.#cells.shift();
    else this.#row += 1;
    this.#cells[this.#row] ??= [];
  }

  #act(final: string, parameters: string): void {
    if (final === 'A') this.#row = Math.max(0, this.#row - Number(parameters || 1));
    else if (final === 'K' && Number(parameters) === 0) this.#cells[this.#row]!.splice(this.#column);
    else if (final === 'J' && Number(parameters) === 0) {
      this.#cells.splice(this.#row + 1);
      this.#cells[this.#row]!.splice(this.#column);
    } else if (final === 'm') for (const code of parameters.split(';')) this.#style = styled(this.#style, Number(code));
    else throw unknown(`\x1b[${parameters}${final}`);
  }
}

function styled(style: Style, code: number): Style {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 39) return { ...style, colour: undefined };
  const colour = COLOURS[code - 31];
  if (colour === undefined) throw unknown(`\x1b[${code}m`);
  return { ...style, colour };
}

const unknown = (text: string) =>
  new Error(`a terminal's ${JSON.stringify(text)} is not supported by this terminal emulator`);

function spansOf(cells: Cell[]): Line {
  const line: Line = [];
  for (const { character, style } of cells) {
    const last = line.at(-1);
    if (last !== undefined && isSame(last.style, style)) last.text += character;
    else line.push({ text: character, style });
  }
  while (line.length > 0 && line.at(-1)!.text.trimEnd() === '') line.pop();
  const last = line.at(-1);
  if (last !== undefined) last.text = last.text.trimEnd();
  return line;
}

const isSame = (a: Style, b: Style) => a.colour === b.colour && a.bold === b.bold && a.dim === b.dim;
