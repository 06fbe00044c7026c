import { terminalWidth } from './terminal.ts';
import { wrapText } from './wrap.ts';

/**
 * Characters that a terminal acts on instead of displaying them: control characters other than tab and line feed, bidirectional controls
 * (UAX 9), and line separators.
 */
const ACTING = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
/** The subset of `ACTING` that JSON and YAML do not escape. */
export const ACTING_UNESCAPED = /[\x7f-\x9f\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * Makes untrusted text, such as names or messages from containers, registries and plugins, safe to print on a terminal: ESC becomes `^[`,
 * and so on. Must not be used for container logs or the output of commands run in containers.
 */
export function escapeTerminal(text: string): string {
  return text.replaceAll(ACTING, inCaretNotation);
}

/** Like `escapeTerminal`, but puts the text on a single line, for table cells and lines that are redrawn. */
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

/** Formats JSON with control characters escaped. `space` is the indentation. */
export function terminalJson(value: unknown, space?: number): string {
  // the control characters that JSON.stringify leaves unescaped occur only inside strings, where the escape is equivalent
  return JSON.stringify(value, bigintAsNumber, space).replaceAll(ACTING_UNESCAPED, inUnicodeNotation);
}

/** A JSON replacer that converts bigints to numbers. */
export function bigintAsNumber(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** Prints untrusted text, escaped and not wrapped. */
export function print(text: string): void {
  console.log(escapeTerminal(text));
}

/** Prints sentences, which may contain untrusted text. They are escaped and, on a terminal, wrapped. */
export function printProse(text: string): void {
  console.log(wrapText(escapeTerminal(text), terminalWidth()));
}

/** Like `printProse`, but prints to standard error. */
export function printError(text: string): void {
  console.error(wrapText(escapeTerminal(text), terminalWidth(process.stderr)));
}
