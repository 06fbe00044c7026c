import type { Readable, Writable } from 'node:stream';

/** What a client asked for: which standard streams, and whether on a terminal (then stderr is part of stdout). */
export type StreamChoice = { stdin: boolean; stdout: boolean; stderr: boolean; tty: boolean };

/** A process whose standard streams are here. */
export type RemoteProcess = {
  /** Is ended when the client ends its input, but not when the client goes away: then only `close` is called. */
  stdin: Writable | undefined;
  stdout: Readable | undefined;
  stderr: Readable | undefined;
  resize(columns: number, rows: number): void;
  /** The exit code; for an attached process 0 when the session ends. Rejects only if it cannot be known. */
  exit: Promise<number>;
  /**
   * Called once when the client is gone or the session is over, in whatever order the two ended: a command that was run
   * for the client ends now, an attached process goes on.
   */
  close(): void;
};

/** The size of a terminal as Kubernetes sends it. */
export type TerminalSize = { Width: number; Height: number };
