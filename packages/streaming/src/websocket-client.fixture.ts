import { once } from 'node:events';
import { createWebSocketStream, WebSocket } from 'ws';
import { exitCodeFrom, parseStatus } from './exit-status.ts';
import type { TerminalSize } from './remote-process.ts';
import { Channel } from './server/websocket-messages.ts';
import { SpdyConnection } from './spdy/connection.ts';

const MESSAGE_BYTES = 32 << 10;

/** A WebSocket client for a remote command that behaves like Kubernetes' clients. */
export class WebSocketVisitor {
  readonly protocol: string;
  /** Resolves with the WebSocket's close code when the server has closed it. */
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  readonly #received = new Map<number, Buffer[]>();

  /** Connects and offers the given subprotocols to the server. `protocol` is the first of them. */
  constructor(url: string, ...protocols: string[]) {
    this.protocol = protocols[0]!;
    this.#socket = new WebSocket(url.replace(/^http/, 'ws'), protocols);
    this.#socket.on('message', (data: Buffer) => {
      const [channel, payload] = [data[0]!, data.subarray(1)];
      const before = this.#received.get(channel);
      if (before === undefined) this.#received.set(channel, [payload]);
      else before.push(payload);
    });
    this.#socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.#socket.once('close', resolve));
  }

  /** Writes to the command's stdin; with `end`, closes it afterwards (v5). */
  async write(input: Buffer, { end = false } = {}): Promise<void> {
    await this.#opened();
    for (let offset = 0; offset < input.length; offset += MESSAGE_BYTES)
      await this.#send(Channel.stdin, input.subarray(offset, offset + MESSAGE_BYTES));
    if (end) await this.#send(Channel.close, Buffer.from([Channel.stdin]));
  }

  async resize(size: TerminalSize): Promise<void> {
    await this.#opened();
    await this.#send(Channel.resize, Buffer.from(JSON.stringify(size)));
  }

  received(channel: keyof typeof Channel): Buffer {
    return Buffer.concat(this.#received.get(Channel[channel]) ?? []);
  }

  /** Waits until the server has closed the connection, and returns the command's exit code. */
  async exitCode(): Promise<number | undefined> {
    await this.closed;
    const status = parseStatus(this.received('error').toString());
    return status && exitCodeFrom(status);
  }

  leave(): void {
    this.#socket.terminate();
  }

  async #opened(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CONNECTING) await once(this.#socket, 'open');
  }

  #send(channel: number, payload: Buffer): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#socket.send(Buffer.concat([Buffer.from([channel]), payload]), () => resolve());
    return promise;
  }
}

/** Opens a port-forward tunnel. The WebSocket library must not see the subprotocol's name, which is not a valid HTTP token. */
export async function connectTunnel(url: string): Promise<SpdyConnection> {
  const protocol = 'SPDY/3.1+portforward.k8s.io';
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers: { 'Sec-WebSocket-Protocol': protocol } });
  socket.once('upgrade', ({ headers }) => {
    if (headers['sec-websocket-protocol'] !== protocol) socket.terminate();
    delete headers['sec-websocket-protocol'];
  });
  await once(socket, 'open');
  return new SpdyConnection(createWebSocketStream(socket), { role: 'client' });
}
