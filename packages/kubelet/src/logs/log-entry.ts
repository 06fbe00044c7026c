/** An entry in a log file. A line written in several pieces consists of several entries, all of them partial except for the last. */
export type LogEntry = { time: string; stream: LogStream; partial: boolean; text: Buffer };

export type LogStream = 'stdout' | 'stderr';
