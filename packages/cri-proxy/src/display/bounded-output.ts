/** Maximum number of bytes that are written to the output but not read yet. */
const MAX_WAITING_BYTES = 8 << 20;

/** A stream for lines, such as standard output. */
export type LineSink = { write(text: string): unknown; readonly writableLength: number };

/** Returns a function that writes lines. While too many bytes wait for the reader, lines are dropped; a later line has their number. */
export function boundedOutput(sink: LineSink): (line: string) => void {
  let leftOut = 0;
  return (line) => {
    if (sink.writableLength > MAX_WAITING_BYTES) {
      leftOut++;
      return;
    }
    if (leftOut > 0) sink.write(`# ${leftOut} lines dropped: the output was read too slowly\n`);
    leftOut = 0;
    sink.write(`${line}\n`);
  };
}
