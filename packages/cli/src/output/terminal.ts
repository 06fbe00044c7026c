/** The cells of a line, for what is cut to fit; none where it goes to no terminal, so that files and pipes get everything. */
export function terminalWidth(stream: NodeJS.WriteStream = process.stdout): number | undefined {
  return stream.isTTY ? stream.columns : undefined;
}

/** Whether lines can be drawn over: on a terminal that moves its cursor (not `TERM=dumb`). */
export function canRedraw(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && process.env.TERM !== 'dumb';
}
