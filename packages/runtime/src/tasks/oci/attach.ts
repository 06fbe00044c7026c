import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { wrapError } from '@podwright/base';
import { type SeqpacketSocket, SeqpacketSockets, type System, setProcessTerminalSize } from '@podwright/system';
import { ATTACH_LOOK_MS } from '../limits.ts';
import type { ExecSession } from '../task-runtime.ts';
import { resizeMonitorTerminal } from './control.ts';
import { BUNDLE_FILES, type TaskRecord } from './task-files.ts';

/** First byte of each of conmon's packets: which stream the rest belongs to. */
const STDERR_TAG = 3;
/** conmon's packets have at most 8 KiB and the tag; those to conmon 32 KiB. */
const RECEIVE_BYTES = 64 * 1024;
const SEND_BYTES = 32 * 1024;

/** Whose stdio conmon has: a task's, or a command's. `bundle` is the directory of conmon's socket and control files. */
export type MonitoredStdio = Pick<TaskRecord, 'id' | 'bundle' | 'terminal' | 'stdinOnce'>;

export type AttachOptions = {
  stdin: boolean;
  signal: AbortSignal;
  system: System;
  /** The process whose terminal is resized, if it is there. */
  pid(): number | undefined;
};

/**
 * Connects to conmon's attach socket, a SOCK_SEQPACKET one: output comes in packets with a stream tag, input goes as it is.
 * Ends with the task's streams, or when the signal aborts. What the task wrote before is only in its log.
 */
export function attachToMonitor(
  sockets: SeqpacketSockets,
  record: MonitoredStdio,
  options: AttachOptions,
): Omit<ExecSession, 'exit'> {
  options.signal.throwIfAborted();
  return beginSession(new AttachConnection(record, { sockets }), record, options);
}

/**
 * Attach sessions of tasks. conmon keeps its end of a connection that has ended until the task next prints something. So a
 * connection outlives its session, and serves the next one of the task: a silent task has no more of them than it had sessions at once.
 */
export class TaskAttachments {
  readonly #sockets = new SeqpacketSockets();
  readonly #idle = new Map<string, Set<AttachConnection>>();

  /** As `attachToMonitor`. */
  attach(record: MonitoredStdio, options: AttachOptions): Omit<ExecSession, 'exit'> {
    options.signal.throwIfAborted();
    return beginSession(this.#idleOf(record) ?? this.#connect(record), record, options);
  }

  /** For the sessions of commands, whose monitors end with them. */
  get sockets(): SeqpacketSockets {
    return this.#sockets;
  }

  /** No session begins any more; those that there are go on. */
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
    return new AttachConnection(record, { sockets: this.#sockets, keep });
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
  { stdin: takesStdin, signal, system, pid }: AttachOptions,
): Omit<ExecSession, 'exit'> {
  const stop = () => connection.leave();
  signal.addEventListener('abort', stop, { once: true });
  connection.onClose = () => signal.removeEventListener('abort', stop);
  const resize = (columns: number, rows: number) => {
    try {
      const process = pid();
      if (process !== undefined && setProcessTerminalSize(system, process, { columns, rows })) return;
      // Of sizes that come to it together, conmon takes the first.
      resizeMonitorTerminal(record, columns, rows);
    } catch {
      // the task has just ended
    }
  };
  const { stdin, stdout, stderr } = connection.begin(takesStdin);
  return { stdin, stdout, stderr: record.terminal ? undefined : stderr, resize };
}

/**
 * Has conmon write to a terminal without waiting for room, as it does after an attach: for attach sessions from before there was a
 * terminal. Otherwise conmon and a program that both want to write wait for each other for ever.
 */
export function unblockTerminalInput(sockets: SeqpacketSockets, { bundle }: MonitoredStdio): void {
  try {
    sockets.connect(join(bundle, BUNDLE_FILES.attach), () => undefined).close();
  } catch {
    // What ran on the terminal has ended already.
  }
}

type Streams = { stdin: Writable; stdout: Readable; stderr: Readable };

class AttachConnection {
  onClose: () => void = () => undefined;
  readonly #socket: SeqpacketSocket;
  readonly #buffer = Buffer.allocUnsafe(RECEIVE_BYTES);
  readonly #keep: ((connection: AttachConnection) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #session: (Streams & { takesStdin: boolean }) | undefined;
  /** Streams that have enough for now: nothing is received until both take more. */
  readonly #full = new Set<Readable>();
  #unsent: { packet: Buffer; sent: (error?: Error) => void } | undefined;
  /**
   * The end of the connection ends the task's stdin: conmon closes that, where it is for one session only, after any connection
   * that ends.
   */
  #holdsStdin: boolean;

  /** `keep` is given the connection once its session has ended; without it the connection ends then. */
  constructor(
    record: MonitoredStdio,
    { sockets, keep }: { sockets: SeqpacketSockets; keep?: (connection: AttachConnection) => void },
  ) {
    this.#keep = keep;
    this.#holdsStdin = record.stdinOnce;
    try {
      this.#socket = sockets.connect(join(record.bundle, BUNDLE_FILES.attach), () => this.#turn());
    } catch (error) {
      throw wrapError(`attach to task ${record.id}`, error, 'failed_precondition');
    }
  }

  /** The streams of a new session; no other is under way. */
  begin(takesStdin: boolean): Streams {
    const session: Streams = {
      stdout: this.#output(),
      stderr: this.#output(),
      stdin: new Writable({
        highWaterMark: SEND_BYTES,
        write: (chunk: Buffer, _encoding, done) => this.#write(chunk, done),
        final: (done) => {
          if (takesStdin && this.#session?.stdin === session.stdin) this.#endStdin();
          done();
        },
      }),
    };
    this.#session = { ...session, takesStdin };
    this.#timer = setInterval(() => this.#turn(), ATTACH_LOOK_MS).unref();
    return session;
  }

  /** The client has gone. */
  leave(): void {
    const session = this.#session;
    if (this.#closed || session === undefined) return;
    if (this.#keep === undefined) return this.close();
    if (session.takesStdin && this.#holdsStdin) this.#endStdin();
    this.#endSession();
    this.onClose();
    this.#keep(this);
    this.#turn();
  }

  /** Whether a new session can have it: nothing came that it would get of the time before. */
  isQuiet(): boolean {
    this.#turn();
    return !this.#closed;
  }

  /** Ends it, unless that ended the task's stdin. */
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

  /** Where stdin is for more sessions, conmon does not close it: it only would not read from this connection any more. */
  #endStdin(): void {
    if (this.#closed || (this.#keep !== undefined && !this.#holdsStdin)) return;
    this.#holdsStdin = false;
    this.#socket.endSending();
  }

  #endSession(): void {
    clearInterval(this.#timer);
    const { stdin, stdout, stderr } = this.#session ?? {};
    this.#session = undefined;
    this.#full.clear();
    stdout?.push(null);
    stderr?.push(null);
    stdin?.destroy();
    this.#unsent?.sent();
    this.#unsent = undefined;
  }

  #output(): Readable {
    const stream: Readable = new Readable({
      highWaterMark: 1, // a packet, which may be a byte long
      read: () => {
        this.#full.delete(stream);
        setImmediate(() => this.#turn());
      },
    });
    return stream;
  }

  /** Does what can be done now in both directions. */
  #turn(): void {
    try {
      this.#flush();
      while (!this.#closed && this.#full.size === 0) if (!this.#receive()) return;
    } catch {
      this.close(); // the monitor is gone
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
      this.closeIdle(); // conmon forgets it when the task next prints something
      return !this.#closed;
    }
    const stream = this.#session[this.#buffer[0] === STDERR_TAG ? 'stderr' : 'stdout'];
    if (size > 1 && !stream.push(Buffer.from(this.#buffer.subarray(1, size)))) this.#full.add(stream);
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
