/** Maximum number of bytes written to the output but not yet read. */
const MAX_WAITING_BYTES = 8 << 20;

/** A stream to write lines to, such as stdout. */
export type LineSink = { write(text: string): unknown; readonly writableLength: number };

/**
 * Returns a function that writes lines. Lines are dropped while too much output is unread; the number of dropped lines is written later.
 */
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
