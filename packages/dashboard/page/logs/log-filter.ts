/** Selects the log lines to show. */
import { messageOf } from '../api/request.ts';
import type { LogLine } from './log-line.ts';

export type LogFilter = {
  /** Text that a line must contain, ignoring case. `/…/` is a regular expression. '' selects all lines. */
  text: string;
  /** Containers whose lines are hidden, by index (`LogLine.source`). */
  hidden: ReadonlySet<number>;
};

/** Returns a predicate for lines, or undefined if all lines are shown. An invalid regular expression is searched for as text. */
export function lineTest({ text, hidden }: LogFilter): ((line: LogLine) => boolean) | undefined {
  if (text === '' && hidden.size === 0) return undefined;
  const has = textTest(text);
  return (line) => !hidden.has(line.source) && has(line.text);
}

/** Returns why the text of a filter is not a valid regular expression; undefined if it is one, or plain text. */
export function filterProblem(text: string): string | undefined {
  const pattern = patternOf(text);
  return typeof pattern === 'string' ? pattern : undefined;
}

/** Returns the regular expression in a filter, the error message for an invalid one, or undefined for plain text. */
function patternOf(text: string): RegExp | string | undefined {
  const source = /^\/(.+)\/$/.exec(text)?.[1];
  if (source === undefined) return undefined;
  try {
    return new RegExp(source, 'i');
  } catch (error) {
    return messageOf(error);
  }
}

function textTest(text: string): (line: string) => boolean {
  const pattern = patternOf(text);
  if (pattern instanceof RegExp) return (line) => pattern.test(line);
  const wanted = text.toLowerCase();
  return (line) => line.toLowerCase().includes(wanted);
}

/** The lines that match a filter. As long as lines are only appended to the log, each is tested only once. */
export class FilteredLines {
  #test: ((line: LogLine) => boolean) | undefined;
  #seen = 0;
  #last: LogLine | undefined;
  #first: LogLine | undefined;
  #found: LogLine[] = [];

  setFilter(filter: LogFilter): void {
    this.#test = lineTest(filter);
    this.#seen = 0;
    this.#found = [];
  }

  /** Returns the matching lines. `lines`: all current lines of the log. */
  of(lines: readonly LogLine[]): readonly LogLine[] {
    if (this.#test === undefined) return lines;
    const isGrown = this.#seen > 0 && lines[0] === this.#first && lines[this.#seen - 1] === this.#last;
    if (!isGrown) {
      this.#seen = 0;
      this.#found = [];
    }
    for (let index = this.#seen; index < lines.length; index++)
      if (this.#test(lines[index]!)) this.#found.push(lines[index]!);
    this.#seen = lines.length;
    this.#first = lines[0];
    this.#last = lines.at(-1);
    return this.#found;
  }
}
