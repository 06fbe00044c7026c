/** Maximum number of bytes that wait for a reader of the output. */
const MAX_WAITING_BYTES = 8 << 20;

/** A stream for lines, such as standard output. */
export type LineSink = { write(text: string): unknown; readonly writableLength: number };

/** Returns a function that writes lines. Lines are left out, and counted, while the reader of the stream is too slow. */
export function boundedOutput(sink: LineSink): (line: string) => void {
  let leftOut = 0;
  return (line) => {
    if (sink.writableLength > MAX_WAITING_BYTES) {
      leftOut++;
      return;
    }
    if (leftOut > 0) sink.write(`# ${leftOut} lines left out: their reader was too slow\n`);
    leftOut = 0;
    sink.write(`${line}\n`);
  };
}
