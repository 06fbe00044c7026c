/**
 * Makes program output safe to display: converts colors to CSS classes, removes other control sequences and makes control characters
 * visible. Pure functions.
 */

/** Part of a line. `style`: CSS classes such as `ansi-red ansi-bold`, or '' for plain text. */
export type Piece = { text: string; style: string };

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** Matches control sequences (ECMA-48): CSI; OSC, DCS, SOS, PM and APC strings including their terminator; other escape sequences. */
const SEQUENCE =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|\u001b[ -/]*[0-~]?|\u009b[0-?]*[ -/]*[@-~]/g;
const COLOUR_SEQUENCE = /^(?:\u001b\[|\u009b)([\d;:]*)m$/;

/** Matches control characters other than tab, and invisible characters such as those that change the text direction. */
const HARMFUL =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** Returns the text without control sequences, replacing control characters with visible ones. */
export const plainText = (text: string): string =>
  (text.includes('\u001b') || text.includes('\u009b') ? text.replace(SEQUENCE, '') : text).replace(HARMFUL, visible);

/** Returns the symbol for an ASCII control character (U+2400 to U+2421), or U+FFFD for other characters. */
function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

/** Splits a line where its style changes. The pieces are safe to display. */
export function piecesOf(line: string): Piece[] {
  if (!line.includes('\u001b') && !line.includes('\u009b'))
    return [{ text: line.replace(HARMFUL, visible), style: '' }];
  const pieces: Piece[] = [];
  let style = new Style();
  let at = 0;
  const add = (end: number) => {
    const text = line.slice(at, end).replace(HARMFUL, visible);
    if (text !== '') pieces.push({ text, style: style.classes });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    add(match.index);
    at = match.index + match[0].length;
    const codes = COLOUR_SEQUENCE.exec(match[0])?.[1];
    if (codes !== undefined) style = style.with(codes);
  }
  add(line.length);
  return pieces;
}

/** The style set by SGR sequences. Supports only bold, dim and named foreground colors, which the page shows with sufficient contrast. */
class Style {
  readonly #colour: string;
  readonly #isBold: boolean;
  readonly #isDim: boolean;

  constructor(colour = '', isBold = false, isDim = false) {
    this.#colour = colour;
    this.#isBold = isBold;
    this.#isDim = isDim;
  }

  get classes(): string {
    return [this.#colour && `ansi-${this.#colour}`, this.#isBold && 'ansi-bold', this.#isDim && 'ansi-dim']
      .filter((name) => name !== '' && name !== false)
      .join(' ');
  }

  /** Returns the style after an SGR sequence with these parameters, for example `1;31`. */
  with(codes: string): Style {
    let [colour, isBold, isDim] = [this.#colour, this.#isBold, this.#isDim];
    const numbers = codes.split(/[;:]/).map(Number);
    for (let index = 0; index < numbers.length; index++) {
      const code = numbers[index]!;
      if (code === 0) [colour, isBold, isDim] = ['', false, false];
      else if (code === 1) isBold = true;
      else if (code === 2) isDim = true;
      else if (code === 22) [isBold, isDim] = [false, false];
      else if (code === 39) colour = '';
      else if (code >= 30 && code <= 37) colour = COLOURS[code - 30]!;
      else if (code >= 90 && code <= 97) colour = COLOURS[code - 90]!;
      else if (code === 38 || code === 48) index += numbers[index + 1] === 5 ? 2 : 4;
    }
    return new Style(colour, isBold, isDim);
  }
}
