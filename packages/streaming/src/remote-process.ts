import type { Readable, Writable } from 'node:stream';

/** The streams that a client has requested, and whether it requested a terminal (where stderr is part of stdout). */
export type StreamChoice = { stdin: boolean; stdout: boolean; stderr: boolean; tty: boolean };

/** A process with its standard streams. */
export type RemoteProcess = {
  /** Ended when the client ends its input, but not when the client disconnects, where only `close` is called. */
  stdin: Writable | undefined;
  stdout: Readable | undefined;
  stderr: Readable | undefined;
  resize(columns: number, rows: number): void;
  /** The exit code; for an attached process, 0 when the session ends. Rejects only if the exit code is unknown. */
  exit: Promise<number>;
  /**
   * Called once, when the client has disconnected or the session has ended. A command that was started for the client must then end; an
   * attached process continues.
   */
  close(): void;
};

/** The size of a terminal in characters, with the field names of Kubernetes' JSON. */
export type TerminalSize = { Width: number; Height: number };
