/**
 * Returns the width of the terminal in cells. Returns `undefined` if the stream is not a terminal, so that lines written to files and pipes
 * are complete.
 */
export function terminalWidth(stream: NodeJS.WriteStream = process.stdout): number | undefined {
  return stream.isTTY ? stream.columns : undefined;
}

/** Whether lines can be redrawn, which requires a terminal that supports cursor movement (not `TERM=dumb`). */
export function canRedraw(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && process.env.TERM !== 'dumb';
}
