import type { Readable, Writable } from 'node:stream';

/** What a client asked for: which standard streams, and whether on a terminal (then stderr is part of stdout). */
export type StreamChoice = { stdin: boolean; stdout: boolean; stderr: boolean; tty: boolean };

/** A process whose standard streams are here. `exit` never rejects for a process that ended by itself. */
export type RemoteProcess = {
  stdin: Writable | undefined;
  stdout: Readable | undefined;
  stderr: Readable | undefined;
  resize(columns: number, rows: number): void;
  /** The exit code; for an attached process 0 when the session ends. */
  exit: Promise<number>;
  /** Called once when the client is gone or the session is over. */
  close(): void;
};

/** The size of a terminal as Kubernetes sends it. */
export type TerminalSize = { Width: number; Height: number };
