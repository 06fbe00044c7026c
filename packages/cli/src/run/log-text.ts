import { escapeLine } from '../output/terminal-text.ts';

/** An SGR sequence of ECMA-48, which sets only the colour or style of the text. */
const STYLE = /(\x1b\[[\d;:]*m)/;
const RESET = '\x1b[0m';

/**
 * Makes a line of a container's log safe for a terminal with a picture. Colours are kept, and reset at the end of the line. Of text
 * overwritten by carriage returns, only the last version is kept. All other control sequences are escaped.
 */
export function logLine(text: string): string {
  const parts = text.replace(/\r+$/, '').split('\r').at(-1)!.split(STYLE);
  if (parts.length === 1) return escapeTabs(parts[0]!);
  return parts.map((part, index) => (index % 2 === 1 ? part : escapeTabs(part))).join('') + RESET;
}

/** Like `logLine`, without colours, for quoting a line in a message. */
export function quotedLine(text: string): string {
  return logLine(text.replaceAll(/\x1b\[[\d;:]*m/g, ''));
}

/** Escapes a line except for its tabs, which may align columns. */
function escapeTabs(text: string): string {
  return text.split('\t').map(escapeLine).join('\t');
}
