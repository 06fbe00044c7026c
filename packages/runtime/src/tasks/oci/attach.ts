import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { wrapError } from '@podwright/base';
import { type SeqpacketSocket, type SeqpacketSockets, type System, setProcessTerminalSize } from '@podwright/system';
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
  { stdin: wantsStdin, signal, system, pid }: AttachOptions,
): Omit<ExecSession, 'exit'> {
  signal.throwIfAborted();
  const connection = new AttachConnection(record, { sockets, stdin: wantsStdin });
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
  const { stdin, stdout, stderr } = connection;
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

class AttachConnection {
  onClose: () => void = () => undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly #socket: SeqpacketSocket;
  readonly #buffer = Buffer.allocUnsafe(RECEIVE_BYTES);
  readonly #timer: NodeJS.Timeout;
  #closed = false;
  /** Streams that have enough for now: nothing is received until both take more. */
  readonly #full = new Set<Readable>();
  #unsent: { packet: Buffer; sent: (error?: Error) => void } | undefined;

  /**
   * There is no listener any more, but the connection must last: conmon closes the task's stdin, where it is for one session
   * only, after any that ends.
   */
  #draining = false;
  readonly #mustLast: boolean;

  constructor(record: MonitoredStdio, { sockets, stdin }: { sockets: SeqpacketSockets; stdin: boolean }) {
    this.#mustLast = !stdin && record.stdinOnce;
    const path = join(record.bundle, BUNDLE_FILES.attach);
    try {
      this.#socket = sockets.connect(path, () => this.#turn());
    } catch (error) {
      throw wrapError(`attach to task ${record.id}`, error, 'failed_precondition');
    }
    this.stdout = this.#output();
    this.stderr = this.#output();
    this.stdin = new Writable({
      highWaterMark: SEND_BYTES,
      write: (chunk: Buffer, _encoding, done) => this.#write(chunk, done),
      final: (done) => {
        if (stdin && !this.#closed) this.#socket.endSending();
        done();
      },
    });
    this.#timer = setInterval(() => this.#turn(), ATTACH_LOOK_MS).unref();
  }

  /** The client has gone. */
  leave(): void {
    if (!this.#mustLast) return this.close();
    this.#endStreams();
    this.#draining = true;
    this.#full.clear();
    this.#turn();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#socket.close();
    this.#endStreams();
    this.#unsent?.sent();
    this.onClose();
  }

  #endStreams(): void {
    if (this.#draining) return;
    this.stdout.push(null);
    this.stderr.push(null);
    this.stdin.destroy();
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
    if (this.#draining) return true;
    const stream = this.#buffer[0] === STDERR_TAG ? this.stderr : this.stdout;
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
