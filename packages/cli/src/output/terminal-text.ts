import { terminalWidth } from './terminal.ts';
import { wrapText } from './wrap.ts';

/**
 * What a terminal acts on instead of showing it: control characters other than tab and line feed, those that turn the direction of
 * the text (UAX 9), and line separators.
 */
const ACTING = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
/** The same, in what JSON and YAML leave as it is. */
export const ACTING_UNESCAPED = /[\x7f-\x9f\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * Text from outside (messages of containers, registries and plugins, names) as it is safe to show on a terminal: ESC becomes `^[`,
 * and so on. Logs of containers and the output of commands in them are not for this: they are the user's own.
 */
export function escapeTerminal(text: string): string {
  return text.replaceAll(ACTING, inCaretNotation);
}

/** The same on one line: for cells of tables, and what is drawn in place. */
export function escapeLine(text: string): string {
  return escapeTerminal(text.replaceAll(/[\t\n]/g, ' '));
}

function inCaretNotation(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x80 ? `^${String.fromCharCode(code ^ 0x40)}` : inUnicodeNotation(character);
}

export function inUnicodeNotation(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** JSON that says exactly this, and that no terminal acts on. `space` is the indentation. */
export function terminalJson(value: unknown, space?: number): string {
  // such characters are inside strings only, where the escape means the same
  return JSON.stringify(value, bigintAsNumber, space).replaceAll(ACTING_UNESCAPED, inUnicodeNotation);
}

/** Replaces in JSON what it cannot hold. */
export function bigintAsNumber(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** Prints lines of text from outside, as they are. */
export function print(text: string): void {
  console.log(escapeTerminal(text));
}

/** Prints sentences, which may have text from outside; on a terminal they are broken between words. */
export function printProse(text: string): void {
  console.log(wrapText(escapeTerminal(text), terminalWidth()));
}

/** The same to standard error. */
export function printError(text: string): void {
  console.error(wrapText(escapeTerminal(text), terminalWidth(process.stderr)));
}
