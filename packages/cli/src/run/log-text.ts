import { escapeLine } from '../output/terminal-text.ts';

/** Matches an SGR sequence (ECMA-48), which only changes the color or style of the text. */
const STYLE = /(\x1b\[[\d;:]*m)/;
const RESET = '\x1b[0m';

/**
 * Makes a container's log line safe to print on a terminal with the live view. Colors are preserved, and reset at the end of the line. Text
 * overwritten using carriage returns is dropped. All other control sequences are escaped.
 */
export function logLine(text: string): string {
  const parts = text.replace(/\r+$/, '').split('\r').at(-1)!.split(STYLE);
  if (parts.length === 1) return escapeTabs(parts[0]!);
  return parts.map((part, index) => (index % 2 === 1 ? part : escapeTabs(part))).join('') + RESET;
}

/** Like `logLine`, but strips colors. Used for quoting a log line in a message. */
export function quotedLine(text: string): string {
  return logLine(text.replaceAll(/\x1b\[[\d;:]*m/g, ''));
}

/** Escapes a line except for its tabs, which may align columns. */
function escapeTabs(text: string): string {
  return text.split('\t').map(escapeLine).join('\t');
}
