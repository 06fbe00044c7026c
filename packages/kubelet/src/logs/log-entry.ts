/** One entry of a log file. A line that was written in pieces comes as partial entries, the last one whole. */
export type LogEntry = { time: string; stream: LogStream; partial: boolean; text: Buffer };

export type LogStream = 'stdout' | 'stderr';
