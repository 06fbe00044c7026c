import { join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { wrapError } from '@podwright/base';
import { type SeqpacketSocket, SeqpacketSockets, type System, setProcessTerminalSize } from '@podwright/system';
import { ClientOutput, ClientPace, type SlowClientLimits, tooSlow } from '../client-output.ts';
import { ATTACH_BUFFER_BYTES, ATTACH_PATIENCE_MS, ATTACH_POLL_MS, LAST_OUTPUT_BYTES } from '../limits.ts';
import type { ExecSession } from '../task-runtime.ts';
import { resizeMonitorTerminal } from './control.ts';
import { BUNDLE_FILES, type TaskRecord } from './task-files.ts';

/** First byte of conmon's packets with stderr output. Packets with stdout output have a different first byte. */
const STDERR_TAG = 3;
/** Packets from conmon contain at most 8 KiB plus the stream tag; packets to conmon contain at most 32 KiB. */
const RECEIVE_BYTES = 64 * 1024;
const SEND_BYTES = 32 * 1024;

/** A task or command with stdio handled by conmon. `bundle` is the directory of conmon's socket and control files. */
export type MonitoredStdio = Pick<TaskRecord, 'id' | 'bundle' | 'terminal' | 'stdinOnce'>;

export type AttachOptions = {
  stdin: boolean;
  signal: AbortSignal;
  system: System;
  /** Returns the PID of the process on the terminal to be resized; undefined if it has exited. */
  pid(): number | undefined;
  /** Whether the process has exited, even if its monitor is still waiting for the client. */
  hasExited(): boolean;
};

/** Limits for the client of a command on a terminal: the command waits for its client, as it would for a local terminal. */
const COMMAND_LIMITS: SlowClientLimits = { bufferBytes: 1, patienceMs: undefined };
/** Limits for a client that is attached to a task's first process, which it must not block: it is disconnected if it reads too slowly. */
const OBSERVER_LIMITS: SlowClientLimits = { bufferBytes: ATTACH_BUFFER_BYTES, patienceMs: ATTACH_PATIENCE_MS };

/**
 * Connects to conmon's attach socket (SOCK_SEQPACKET). Output arrives in packets with a stream tag; input is sent as is. The session ends
 * when the task's streams end or the signal aborts. Earlier output is only available from the task's log.
 *
 * conmon's writes to the socket block: while it waits for a client, it does not read the process's output, reap the process or report its
 * exit. Output is therefore received at the client's pace only while the process is running.
 */
export function attachToMonitor(
  sockets: SeqpacketSockets,
  record: MonitoredStdio,
  options: AttachOptions,
): Omit<ExecSession, 'exit'> {
  options.signal.throwIfAborted();
  return beginSession(new AttachConnection(record, { sockets, limits: COMMAND_LIMITS }), record, options);
}

/**
 * The tasks' attach sessions. After a client has disconnected, conmon does not close its end of the connection before the task's next
 * output. The connection is therefore reused for the task's next session, so that a silent task never has more connections than it had
 * concurrent sessions.
 */
export class TaskAttachments {
  readonly #sockets = new SeqpacketSockets();
  readonly #idle = new Map<string, Set<AttachConnection>>();

  /**
   * Like `attachToMonitor`, but reuses an idle connection if there is one, and disconnects a client that makes the task wait for more than
   * two seconds.
   */
  attach(record: MonitoredStdio, options: AttachOptions): Omit<ExecSession, 'exit'> {
    options.signal.throwIfAborted();
    return beginSession(this.#idleOf(record) ?? this.#connect(record), record, options);
  }

  /**
   * The attach sockets, also used for attaching to execs. Connections to an exec's monitor need not be reused, because the monitor exits
   * with the exec.
   */
  get sockets(): SeqpacketSockets {
    return this.#sockets;
  }

  /** Rejects new attach sessions; existing ones continue. */
  close(): void {
    for (const connection of [...this.#idle.values()].flatMap((idle) => [...idle])) connection.closeIdle();
    this.#sockets.close();
  }

  #idleOf({ id }: MonitoredStdio): AttachConnection | undefined {
    for (const connection of this.#idle.get(id) ?? []) {
      if (!connection.isQuiet()) continue;
      this.#forget(id, connection);
      return connection;
    }
    return undefined;
  }

  #connect(record: MonitoredStdio): AttachConnection {
    const keep = (connection: AttachConnection) => {
      const idle = this.#idle.get(record.id) ?? new Set();
      this.#idle.set(record.id, idle.add(connection));
      connection.onClose = () => this.#forget(record.id, connection);
    };
    return new AttachConnection(record, { sockets: this.#sockets, limits: OBSERVER_LIMITS, keep });
  }

  #forget(id: string, connection: AttachConnection): void {
    const idle = this.#idle.get(id);
    idle?.delete(connection);
    if (idle?.size === 0) this.#idle.delete(id);
  }
}

function beginSession(
  connection: AttachConnection,
  record: MonitoredStdio,
  { stdin: takesStdin, signal, system, pid, hasExited }: AttachOptions,
): Omit<ExecSession, 'exit'> {
  const stop = () => connection.disconnect();
  signal.addEventListener('abort', stop, { once: true });
  connection.onClose = () => signal.removeEventListener('abort', stop);
  const resize = (columns: number, rows: number) => {
    try {
      const process = pid();
      if (process !== undefined && setProcessTerminalSize(system, process, { columns, rows })) return;
      // fallback if the terminal's size cannot be set directly: of several sizes that arrive together, conmon applies just the first
      resizeMonitorTerminal(record, columns, rows);
    } catch {
      // failure to resize means that the task has just exited
    }
  };
  const { stdin, stdout, stderr } = connection.begin({ takesStdin, hasExited });
  return { stdin, stdout, stderr: record.terminal ? undefined : stderr, resize };
}

/**
 * Makes conmon's writes to a terminal non-blocking, like those after an attach. Needed if an attach session connected before the terminal
 * existed: otherwise, conmon and the program would deadlock if both wrote to the terminal.
 */
export function unblockTerminalInput(sockets: SeqpacketSockets, { bundle }: MonitoredStdio): void {
  try {
    sockets.connect(join(bundle, BUNDLE_FILES.attach), () => undefined).close();
  } catch {
    // failure means that the process on the terminal has already exited
  }
}

type Streams = { stdin: Writable; stdout: Readable; stderr: Readable };

type Session = {
  stdin: Writable;
  stdout: ClientOutput;
  stderr: ClientOutput;
  pace: ClientPace;
  takesStdin: boolean;
  hasExited: () => boolean;
};

class AttachConnection {
  onClose: () => void = () => undefined;
  readonly #socket: SeqpacketSocket;
  readonly #buffer = Buffer.allocUnsafe(RECEIVE_BYTES);
  readonly #id: string;
  readonly #limits: SlowClientLimits;
  readonly #keep: ((connection: AttachConnection) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #session: Session | undefined;
  #unsent: { packet: Buffer; sent: (error?: Error) => void } | undefined;
  /** Whether closing the connection also closes the task's stdin: conmon does this after any disconnect if `stdinOnce` is set. */
  #holdsStdin: boolean;

  /** `keep` is called with the connection when its session ends. If it is unset, the connection is closed instead. */
  constructor(
    record: MonitoredStdio,
    {
      sockets,
      limits,
      keep,
    }: { sockets: SeqpacketSockets; limits: SlowClientLimits; keep?: (connection: AttachConnection) => void },
  ) {
    this.#id = record.id;
    this.#limits = limits;
    this.#keep = keep;
    this.#holdsStdin = record.stdinOnce;
    try {
      this.#socket = sockets.connect(join(record.bundle, BUNDLE_FILES.attach), () => this.#turn());
    } catch (error) {
      throw wrapError(`attach to task ${record.id}`, error, 'failed_precondition');
    }
  }

  /** Starts an attach session and returns its streams. Must not be called while another session is active. */
  begin({ takesStdin, hasExited }: Pick<Session, 'takesStdin' | 'hasExited'>): Streams {
    const output = () => new ClientOutput(() => setImmediate(() => this.#turn()));
    const [stdout, stderr] = [output(), output()];
    const stdin = new Writable({
      highWaterMark: SEND_BYTES,
      write: (chunk: Buffer, _encoding, done) => this.#write(chunk, done),
      final: (done) => {
        if (takesStdin && this.#session?.stdin === stdin) this.#endStdin();
        done();
      },
    });
    const pace = new ClientPace([stdout, stderr], this.#limits);
    this.#session = { stdin, stdout, stderr, pace, takesStdin, hasExited };
    this.#timer = setInterval(() => this.#poll(), ATTACH_POLL_MS).unref();
    return { stdin, stdout: stdout.stream, stderr: stderr.stream };
  }

  /** Ends the session of a client that has disconnected. */
  disconnect(): void {
    const session = this.#session;
    if (this.#closed || session === undefined) return;
    if (this.#keep === undefined) return this.close();
    if (session.takesStdin && this.#holdsStdin) this.#endStdin();
    this.#endSession();
    this.onClose();
    this.#keep(this);
    this.#turn();
  }

  /**
   * Whether the connection can be reused for a new session. Closes the connection if it received output while idle, because that output
   * must not reach the new session.
   */
  isQuiet(): boolean {
    this.#turn();
    return !this.#closed;
  }

  /** Closes the connection, unless that would close the task's stdin. */
  closeIdle(): void {
    if (!this.#holdsStdin) this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.close();
    this.#endSession();
    this.onClose();
  }

  /**
   * Closes the task's stdin if it is meant for a single session. Otherwise conmon would not close stdin, but merely stop reading from this
   * connection.
   */
  #endStdin(): void {
    if (this.#closed || (this.#keep !== undefined && !this.#holdsStdin)) return;
    this.#holdsStdin = false;
    this.#socket.endSending();
  }

  #endSession(): void {
    clearInterval(this.#timer);
    const { stdin, stdout, stderr } = this.#session ?? {};
    this.#session = undefined;
    stdout?.end();
    stderr?.end();
    stdin?.destroy();
    this.#unsent?.sent();
    this.#unsent = undefined;
  }

  #poll(): void {
    this.#turn();
    if (this.#session?.pace.isHeld() && this.#session.hasExited()) {
      this.#session.pace.makeRoom(LAST_OUTPUT_BYTES);
      this.#turn();
    }
    if (!this.#session?.pace.isTooSlow()) return;
    const error = tooSlow(`attach to task ${this.#id}`);
    this.#session.stderr.fail(error);
    this.#session.stdout.fail(error);
    this.disconnect();
  }

  /** Sends and receives as much as possible without blocking. */
  #turn(): void {
    try {
      this.#flush();
      while (!this.#closed && !this.#session?.pace.isHeld()) if (!this.#receive()) return;
    } catch {
      this.close(); // the monitor has exited
    }
  }

  #receive(): boolean {
    const size = this.#socket.receive(this.#buffer);
    if (size === undefined) return false;
    if (size === 0) {
      this.close();
      return false;
    }
    if (this.#session === undefined) {
      this.closeIdle(); // conmon drops the connection at the task's next output
      return !this.#closed;
    }
    const output = this.#session[this.#buffer[0] === STDERR_TAG ? 'stderr' : 'stdout'];
    if (size > 1) output.write(this.#buffer.subarray(1, size));
    return true;
  }

  #write(chunk: Buffer, done: (error?: Error) => void): void {
    let offset = 0;
    const next = (error?: Error) => {
      if (error !== undefined || this.#closed || offset >= chunk.length) return done(error);
      const packet = chunk.subarray(offset, offset + SEND_BYTES);
      offset += packet.length;
      this.#unsent = { packet, sent: next };
      this.#turn();
    };
    next();
  }

  #flush(): void {
    const { packet, sent } = this.#unsent ?? {};
    if (this.#closed || packet === undefined || !this.#socket.send(packet)) return;
    this.#unsent = undefined;
    sent?.();
  }
}
