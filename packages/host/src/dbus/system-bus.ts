/** A connection to the D-Bus system bus. It does not use an external program, because the kubelet listens for signals continuously. */
import { connect, type Socket } from 'node:net';
import { errorMessage, PodwrightError, wrapError } from '@podwright/base';
import {
  type DBusMessage,
  type DBusValue,
  decodeMessage,
  encodeCall,
  type MethodCall,
  messageLength,
} from './dbus-message.ts';
import { DBUS_TIMEOUT_MS, MAX_DBUS_MESSAGE_BYTES } from './limits.ts';

/** The bus's default address (D-Bus specification, Well-known Message Bus Instances). */
const SYSTEM_BUS = 'unix:path=/run/dbus/system_bus_socket';

/** Destination of method calls to the bus itself. */
const BUS = { destination: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus' };

type Waiting = { resolve: (values: DBusValue[]) => void; reject: (error: Error) => void };

export class SystemBus {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #closed = Promise.withResolvers<string>();
  readonly #onSignal: (signal: DBusMessage) => void;
  #serial = 0;
  #unread: Buffer = Buffer.alloc(0);
  /** Number of bytes of an oversized message that remain to be skipped. */
  #skip = 0;

  private constructor(socket: Socket, onSignal: (signal: DBusMessage) => void) {
    this.#socket = socket;
    this.#onSignal = onSignal;
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', (error) => this.close(errorMessage(error)));
    socket.on('close', () => this.close('the bus has closed the connection'));
  }

  /**
   * Connects to the bus; rejects with `unavailable` if there is none. Until the connection is closed or `signal` aborts, calls `onSignal`
   * for subscribed signals, and for signals that other clients send directly to this one.
   */
  static async connect(onSignal: (signal: DBusMessage) => void, signal: AbortSignal): Promise<SystemBus> {
    const address = process.env.DBUS_SYSTEM_BUS_ADDRESS ?? SYSTEM_BUS;
    const path = /^unix:path=([^,;]+)/.exec(address)?.[1];
    if (path === undefined)
      throw new PodwrightError('invalid_argument', `DBUS_SYSTEM_BUS_ADDRESS=${address}: must be unix:path=PATH`);
    const socket = await authenticated(path, signal);
    const bus = new SystemBus(socket, onSignal);
    try {
      await bus.call({ ...BUS, member: 'Hello' });
      return bus;
    } catch (error) {
      bus.close('Hello failed');
      throw error;
    }
  }

  /** Resolves with the reason when the connection is closed. */
  get closed(): Promise<string> {
    return this.#closed.promise;
  }

  /**
   * Calls a method and returns the values in its reply. Rejects with `unavailable` on failure; for an error reply, the message includes the
   * name and text of the D-Bus error.
   */
  async call(call: MethodCall): Promise<DBusValue[]> {
    const serial = ++this.#serial;
    const { promise, resolve, reject } = Promise.withResolvers<DBusValue[]>();
    const fail = (why: string) =>
      reject(new PodwrightError('unavailable', `call ${call.member} of ${call.destination}: ${why}`));
    if (this.#socket.destroyed) fail('the connection is closed');
    const timer = setTimeout(() => fail('no answer'), DBUS_TIMEOUT_MS);
    this.#waiting.set(serial, { resolve, reject: (error) => fail(error.message) });
    this.#socket.write(encodeCall(serial, call));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(serial);
    }
  }

  /** Subscribes to the D-Bus signals that match the rule. */
  async listen(rule: string): Promise<void> {
    await this.call({ ...BUS, member: 'AddMatch', arguments: [rule] });
  }

  /** Returns the unique name of the connection that owns a well-known bus name. Rejects with `unavailable` if there is none. */
  async owner(name: string): Promise<string> {
    const [owner] = await this.call({ ...BUS, member: 'GetNameOwner', arguments: [name] });
    return String(owner);
  }

  close(why = 'it was closed'): void {
    this.#closed.resolve(why);
    this.#socket.destroy();
    for (const { reject } of this.#waiting.values()) reject(new Error(why));
  }

  #take(bytes: Buffer): void {
    const skipped = Math.min(this.#skip, bytes.length);
    this.#skip -= skipped;
    this.#unread = Buffer.concat([this.#unread, bytes.subarray(skipped)]);
    try {
      while (this.#next());
    } catch (error) {
      this.close(errorMessage(error));
    }
  }

  /**
   * Handles one message from the bus; returns false if no complete message has been received. Any user can send messages, so oversized and
   * invalid ones are skipped.
   */
  #next(): boolean {
    const length = messageLength(this.#unread);
    if (length === undefined) return false;
    const isWhole = length <= this.#unread.length;
    if (!isWhole && length <= MAX_DBUS_MESSAGE_BYTES) return false;
    const message = this.#unread.subarray(0, length);
    this.#skip = length - message.length;
    this.#unread = this.#unread.subarray(length);
    if (isWhole) this.#handle(message);
    return true;
  }

  #handle(bytes: Buffer): void {
    const message = understood(bytes);
    if (message?.type === 'signal') return this.#onSignal(message);
    const waiting = this.#waiting.get(message?.replySerial ?? 0);
    if (message?.type === 'return') waiting?.resolve(message.values);
    if (message?.type === 'error') waiting?.reject(new Error(`${message.errorName}: ${message.values[0] ?? ''}`));
  }
}

function understood(bytes: Buffer): DBusMessage | undefined {
  try {
    return decodeMessage(bytes);
  } catch {
    return undefined;
  }
}

/** Connects to the bus and authenticates with EXTERNAL, where the kernel provides the process's UID. */
async function authenticated(path: string, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const socket = connect({ path });
  // `signal` is not passed to `connect`, which would leave a listener on it for as long as it lives
  const end = () => void socket.destroy();
  signal.addEventListener('abort', end);
  socket.once('close', () => signal.removeEventListener('abort', end));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const id = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
  let answer = '';
  const onData = (bytes: Buffer) => {
    answer += bytes.toString('latin1');
    if (answer.startsWith('OK ') && answer.endsWith('\r\n')) resolve();
    else if (answer.length > 1024 || answer.endsWith('\r\n'))
      reject(new Error(`it answers ${JSON.stringify(answer.slice(0, 80))}`));
  };
  socket.on('data', onData);
  socket.on('error', reject);
  const onClose = () => reject(new Error('it has closed the connection'));
  socket.on('close', onClose);
  const timer = setTimeout(() => reject(new Error('no answer')), DBUS_TIMEOUT_MS);
  socket.write(`\0AUTH EXTERNAL ${id}\r\n`);
  try {
    await promise;
    socket.write('BEGIN\r\n');
    return socket;
  } catch (error) {
    socket.destroy();
    throw wrapError(`connect to the system's D-Bus at ${path}`, error, 'unavailable');
  } finally {
    clearTimeout(timer);
    socket.off('data', onData);
    socket.off('error', reject);
    socket.off('close', onClose);
  }
}
