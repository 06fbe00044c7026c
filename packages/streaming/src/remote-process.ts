import type { Readable, Writable } from 'node:stream';

/** The streams that a client has requested, and whether it requested a terminal (where stderr is part of stdout). */
export type StreamChoice = { stdin: boolean; stdout: boolean; stderr: boolean; tty: boolean };

/** A process with its standard streams. */
export type RemoteProcess = {
  /** Standard input, which is ended when the client ends its input. If the client disconnects, only `close` is called. */
  stdin: Writable | undefined;
  stdout: Readable | undefined;
  stderr: Readable | undefined;
  resize(columns: number, rows: number): void;
  /** Resolves with the exit code; for an attached process, with 0 when the session ends. Rejects only if the exit code is unknown. */
  exit: Promise<number>;
  /**
   * Called once, when the client has disconnected or the session has ended. Must terminate a command that was started for the client, but
   * leave an attached process running.
   */
  close(): void;
};

/** A terminal's size in characters. The field names are those of Kubernetes' JSON. */
export type TerminalSize = { Width: number; Height: number };
