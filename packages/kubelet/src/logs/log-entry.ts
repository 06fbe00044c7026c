/** One entry of a log file. A line that was written in pieces consists of several entries, all but the last of them partial. */
export type LogEntry = { time: string; stream: LogStream; partial: boolean; text: Buffer };

export type LogStream = 'stdout' | 'stderr';
