import { escapeLine } from '../output/terminal-text.ts';

/** A colour or style of ECMA-48 (SGR), which changes nothing but how the text after it looks. */
const STYLE = /(\x1b\[[\d;:]*m)/;
const RESET = '\x1b[0m';

/**
 * A line of a container's log as it may stand above a picture on a terminal: colours stay, and end with the line; of what was
 * drawn over itself by carriage returns the last state is left; all else that a terminal would act on is escaped.
 */
export function logLine(text: string): string {
  const parts = text.replace(/\r+$/, '').split('\r').at(-1)!.split(STYLE);
  if (parts.length === 1) return escapeTabs(parts[0]!);
  return parts.map((part, index) => (index % 2 === 1 ? part : escapeTabs(part))).join('') + RESET;
}

/** The same without colours, for where a line is quoted. */
export function quotedLine(text: string): string {
  return logLine(text.replaceAll(/\x1b\[[\d;:]*m/g, ''));
}

/** Tabs stay as they are: logs are columns at times. */
function escapeTabs(text: string): string {
  return text.split('\t').map(escapeLine).join('\t');
}
