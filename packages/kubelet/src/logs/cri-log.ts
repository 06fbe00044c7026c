/** One entry of a CRI log file. A line that was written in pieces comes as partial entries, the last one whole. */
export type LogEntry = { time: string; stream: 'stdout' | 'stderr'; partial: boolean; text: Buffer };

/**
 * Parses a line of the CRI log format, `TIME STREAM TAGS TEXT` without its newline (kubernetes/design-proposals
 * kubelet-cri-logging). Tags are separated by colons; `P` means partial. Nothing for anything else.
 */
export function parseLogLine(line: Buffer): LogEntry | undefined {
  const timeEnd = line.indexOf(0x20);
  const streamEnd = line.indexOf(0x20, timeEnd + 1);
  if (timeEnd <= 0 || streamEnd < 0) return undefined;
  const tagsEnd = line.indexOf(0x20, streamEnd + 1);
  const stream = line.toString('latin1', timeEnd + 1, streamEnd);
  if (stream !== 'stdout' && stream !== 'stderr') return undefined;
  const tags = line.toString('latin1', streamEnd + 1, tagsEnd < 0 ? line.length : tagsEnd).split(':');
  return {
    time: line.toString('latin1', 0, timeEnd),
    stream,
    partial: tags[0] === 'P',
    text: tagsEnd < 0 ? Buffer.alloc(0) : line.subarray(tagsEnd + 1),
  };
}
