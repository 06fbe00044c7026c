/**
 * One entry of a log file. A line that was written in several pieces consists of several entries, all of which are partial except for the
 * last.
 */
export type LogEntry = { time: string; stream: LogStream; partial: boolean; text: Buffer };

export type LogStream = 'stdout' | 'stderr';
