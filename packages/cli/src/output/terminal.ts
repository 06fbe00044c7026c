/** The width of the terminal in cells, or `undefined` if the stream is not a terminal, so that files and pipes get full lines. */
export function terminalWidth(stream: NodeJS.WriteStream = process.stdout): number | undefined {
  return stream.isTTY ? stream.columns : undefined;
}

/** Whether lines can be redrawn: on a terminal with cursor movement (not `TERM=dumb`). */
export function canRedraw(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && process.env.TERM !== 'dumb';
}
