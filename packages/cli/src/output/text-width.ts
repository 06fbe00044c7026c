/** Characters that are two cells wide: UAX 11 (W and F) and emoji. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]|\ufe0f/u;
/** Characters that have no width: combining marks, and format characters other than the soft hyphen. */
const INVISIBLE = /^(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}]+$/u;
/** Matches a color or style sequence (SGR in ECMA-48). */
const STYLE = /(\x1b\[[\d;]*m)/;
const ASCII = /^[ -~]*$/;

/** Returns the width of a line on a terminal, in cells. Color sequences have no width. */
export function displayWidth(line: string): number {
  return ASCII.test(line) ? line.length : pieces(line).reduce((sum, piece) => sum + piece.width, 0);
}

/** Truncates a line to `width` columns, with an ellipsis at its end. A width of 0 (a terminal of unknown width) means unlimited. */
export function fit(line: string, width: number | undefined): string {
  if (!width || displayWidth(line) <= width) return line;
  return `${start(pieces(line), width - 1)}…`;
}

/** Like `fit`, but truncates names in the middle, because they often differ only at the end. A name is a cell without spaces or commas. */
export function fitCell(cell: string, width: number): string {
  if (/[ ,]/.test(cell) || displayWidth(cell) <= width) return fit(cell, width);
  const all = pieces(cell);
  const tail = start(all.toReversed(), Math.floor((width - 1) / 2), (text, piece) => piece + text);
  return `${start(all, width - 1 - displayWidth(tail))}…${tail}`;
}

/** A part of a line that cannot be split: a grapheme, or a style sequence, which has no width. */
type Piece = { text: string; width: number };

/** Joins as many pieces as fit, plus all style sequences, so that the truncated text still resets its colors. */
function start(all: Piece[], width: number, join = (text: string, piece: string) => text + piece): string {
  let text = '';
  let left = width;
  for (const piece of all) {
    left -= piece.width;
    if (left >= 0 || STYLE.test(piece.text)) text = join(text, piece.text);
  }
  return text;
}

function pieces(line: string): Piece[] {
  const graphemes = new Intl.Segmenter();
  return line.split(STYLE).flatMap((part) => {
    if (STYLE.test(part)) return [{ text: part, width: 0 }];
    return Array.from(graphemes.segment(part), ({ segment }) => ({ text: segment, width: graphemeWidth(segment) }));
  });
}

function graphemeWidth(grapheme: string): number {
  if (WIDE.test(grapheme)) return 2;
  return INVISIBLE.test(grapheme) ? 0 : 1;
}
