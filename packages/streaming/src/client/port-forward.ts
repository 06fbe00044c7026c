import type { Duplex } from 'node:stream';
import { errorMessage, ignoreFailure, PodwrightError } from '@podwright/base';
import { SPDY_PORT_FORWARD } from '../server/protocols.ts';
import type { SpdyConnection } from '../spdy/connection.ts';
import { joinStream } from '../spdy/join-stream.ts';
import type { SpdyStream } from '../spdy/stream.ts';
import { connectSpdy, type UpgradeTarget } from './upgrade.ts';

const MAX_MESSAGE_BYTES = 4 << 10;

/**
 * Forwards connections to a pod's ports over one SPDY connection, which the first forwarded connection opens. If the SPDY connection is
 * lost, the next forwarded connection reopens it, provided that the target can be used again: a path on an API server's unix socket can,
 * but a container runtime's URL is valid only once. The caller listens on local ports:
 *
 *     using forwarder = new PortForwarder({ socketPath, path });
 *     createServer({ allowHalfOpen: true }, (socket) => forwarder.forward(socket, 80).catch(complain)).listen(8080);
 */
export class PortForwarder implements Disposable {
  readonly #target: UpgradeTarget;
  readonly #closed = new AbortController();
  #connection: Promise<SpdyConnection> | undefined;
  #nextRequestId = 0;

  constructor(target: UpgradeTarget) {
    this.#target = target;
  }

  /** Opens the SPDY connection in advance, to detect errors early. Throws the same errors as `connectSpdy`. */
  async connect(): Promise<void> {
    await this.#connect();
  }

  /**
   * Joins `local` to a port of the pod until both directions have ended, then closes `local`. Throws the same errors as `connectSpdy`, and
   * `unavailable` with the server's message if the port cannot be reached or the connection breaks. Other forwarded connections are not
   * affected.
   */
  async forward(local: Duplex, port: number): Promise<void> {
    local.on('error', () => local.destroy());
    try {
      const { data, error } = await this.#open(port);
      const message = readMessage(error);
      await joinStream(data, local, this.#closed.signal);
      const failure = await message;
      if (failure !== '') throw new PodwrightError('unavailable', failure);
      if (data.cut) throw new PodwrightError('unavailable', `the connection to port ${port} was lost`);
    } finally {
      local.destroy();
    }
  }

  /** Closes all forwarded connections. */
  close(): void {
    this.#closed.abort(new PodwrightError('cancelled', 'port forwarding has ended'));
    const closing = this.#connection?.then((connection) => connection.close());
    if (closing !== undefined) ignoreFailure(closing, 'the caller of `connect` receives the error');
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Opens the two streams of a forwarded connection, the error stream before the data stream, as Kubernetes clients do. */
  async #open(port: number): Promise<{ data: SpdyStream; error: SpdyStream }> {
    const connection = await this.#connect();
    const headers = { port: String(port), requestid: String(this.#nextRequestId++) };
    const [error, data] = await Promise.all([
      connection.open({ ...headers, streamtype: 'error' }),
      connection.open({ ...headers, streamtype: 'data' }),
    ]);
    error.end();
    return { data, error };
  }

  async #connect(): Promise<SpdyConnection> {
    this.#closed.signal.throwIfAborted();
    this.#connection ??= this.#dial();
    const connection = await this.#connection;
    this.#closed.signal.throwIfAborted();
    return connection;
  }

  async #dial(): Promise<SpdyConnection> {
    const discard = () => {
      this.#connection = undefined;
    };
    try {
      const options = { protocols: [SPDY_PORT_FORWARD], signal: this.#closed.signal };
      const { connection } = await connectSpdy(this.#target, options);
      connection.gone.addEventListener('abort', discard, { once: true });
      if (connection.gone.aborted) discard();
      return connection;
    } catch (error) {
      discard();
      throw error;
    }
  }
}

/** Reads the server's error message for a forwarded connection; empty if the connection ended without an error. */
async function readMessage(error: SpdyStream): Promise<string> {
  let message = '';
  try {
    for await (const chunk of error as AsyncIterable<Buffer>) {
      if (message.length < MAX_MESSAGE_BYTES) message += chunk.toString('utf8');
    }
  } catch (cause) {
    return message || errorMessage(cause);
  }
  return message;
}
