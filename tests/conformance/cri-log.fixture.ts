import { createReadStream } from 'node:fs';

/** A line of a container's log file. Each character of `text` is one byte (latin1). */
export type LogLine = { stream: 'stdout' | 'stderr'; tag: 'P' | 'F'; text: string };

const FORMAT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}(?:Z|[+-]\d\d:\d\d) (stdout|stderr) ([PF]) (.*)$/s;

/** Reads the lines of a log in CRI format. Throws on a malformed or truncated line. */
export async function* readLog(path: string): AsyncGenerator<LogLine> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'latin1', highWaterMark: 1 << 20 })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield parseLine(line);
  }
  if (rest !== '') throw new Error(`the last line of the log is cut off: ${JSON.stringify(rest.slice(0, 200))}`);
}

function parseLine(line: string): LogLine {
  const match = FORMAT.exec(line);
  if (match === null) throw new Error(`malformed line of a log: ${JSON.stringify(line.slice(0, 200))}`);
  return { stream: match[1] as LogLine['stream'], tag: match[2] as LogLine['tag'], text: match[3]! };
}

/** Returns the content of a stream. A full line (F) ends with a newline; a partial one (P) continues in the next entry. */
export async function contentOf(path: string, stream: LogLine['stream']): Promise<Buffer> {
  const parts: string[] = [];
  for await (const line of readLog(path)) {
    if (line.stream === stream) parts.push(line.text, line.tag === 'F' ? '\n' : '');
  }
  return Buffer.from(parts.join(''), 'latin1');
}
