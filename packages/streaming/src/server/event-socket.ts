import { withTimeout } from '@podwright/base';
import type { WebSocket } from 'ws';
import { headerValues } from './protocols.ts';
import type { UpgradingClient } from './serve-spdy.ts';
import { acceptWebSocket } from './serve-websocket.ts';
import { answerPings } from './websocket-channels.ts';

/** Maximum size of a message from the client. Clients have nothing to send, so a larger message closes the connection. */
const MAX_MESSAGE_BYTES = 64 << 10;

/** Maximum size of an unfragmented message, and of a fragment of a larger one. */
const MAX_FRAGMENT_BYTES = 32 << 10;

/** How long a client may go without reading before it is disconnected. */
const MAX_STALL_MS = 60_000;

/** A WebSocket for sending messages to a client. Messages from the client are ignored. */
export class EventSocket {
  readonly #socket: WebSocket;
  readonly #closed = new AbortController();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    answerPings(socket);
    socket.on('error', () => socket.terminate());
    socket.once('close', () => this.#closed.abort());
  }

  /**
   * Upgrades a connection. The client may request one subprotocol. Returns undefined if the upgrade was rejected, in which case the client
   * has already received a response.
   */
  static accept(client: UpgradingClient): EventSocket | undefined {
    const [protocol = '', ...more] = headerValues(client.request.headers['sec-websocket-protocol']);
    const spoken = more.length === 0 ? [protocol] : [];
    const accepted = acceptWebSocket(client, spoken, MAX_MESSAGE_BYTES);
    return accepted && new EventSocket(accepted.socket);
  }

  /** A signal that aborts when the connection is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /**
   * Sends a message and waits until the connection has room for the next one. A large message is sent in fragments, as fast as the client
   * reads them, without copying its parts. Resolves to false if the connection has been closed.
   */
  async send(parts: readonly Uint8Array[], { isText }: { isText: boolean }): Promise<boolean> {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const fragments = bytes <= MAX_FRAGMENT_BYTES ? [Buffer.concat(parts)] : fragmentsOf(parts);
    for (const [index, fragment] of fragments.entries()) {
      const isSent = await this.#send(fragment, { binary: !isText, fin: index === fragments.length - 1 });
      if (!isSent) return false;
    }
    return true;
  }

  async #send(fragment: Uint8Array, options: { binary: boolean; fin: boolean }): Promise<boolean> {
    if (this.#closed.signal.aborted) return false;
    using patience = withTimeout(this.#closed.signal, MAX_STALL_MS, 'send a message');
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = () => {
      this.#socket.terminate();
      resolve(false);
    };
    patience.addEventListener('abort', giveUp, { once: true });
    this.#socket.send(fragment, options, (error) => resolve(!error));
    const isSent = await promise;
    patience.removeEventListener('abort', giveUp);
    return isSent;
  }

  close(): void {
    this.#socket.close();
  }
}

function fragmentsOf(parts: readonly Uint8Array[]): Uint8Array[] {
  return parts.flatMap((part) => {
    const count = Math.ceil(part.length / MAX_FRAGMENT_BYTES);
    return Array.from({ length: count }, (_, index) =>
      part.subarray(index * MAX_FRAGMENT_BYTES, (index + 1) * MAX_FRAGMENT_BYTES),
    );
  });
}
