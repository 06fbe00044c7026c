/** Streams from the API server, such as watches. They use WebSockets, because browsers open at most six HTTP/1.1 connections to a host. */
import { errorFrom, parametersOf, type Query } from './request.ts';
import { keyProtocol, socketUrl } from './session-key.ts';

const STREAM_PROTOCOL = 'podwright.stream.v1';
/** WebSocket close code for a normal closure (RFC 6455, section 7.4.1). */
const NORMAL_CLOSURE = 1000;

export type StreamOptions = {
  query?: Query;
  accept?: string;
  signal: AbortSignal;
  /** Called when the server has accepted the request, before the first chunk. */
  onOpen?(): void;
};

/**
 * Sends a GET request and yields chunks of the response. Throws an ApiError if the response has an error status, and an Error if the
 * connection is lost or the signal aborts. `path` has no leading slash.
 */
export async function* stream(
  path: string,
  { query = {}, accept, signal, onOpen }: StreamOptions,
): AsyncGenerator<Uint8Array> {
  const wanted = new URLSearchParams({ path: `/${path}?${parametersOf(query)}`, ...(accept && { accept }) });
  signal.throwIfAborted();
  const socket = new WebSocket(socketUrl(`dashboard/stream?${wanted}`), [STREAM_PROTOCOL, keyProtocol()]);
  socket.binaryType = 'arraybuffer';
  const messages = new Messages(socket, signal);
  try {
    const head = await messages.next();
    if (head === undefined) return;
    const { status } = JSON.parse(String(head)) as { status: number };
    if (status >= 300) throw errorFrom(status, await restOf(messages));
    onOpen?.();
    for (let chunk = await messages.next(); chunk !== undefined; chunk = await messages.next())
      if (typeof chunk !== 'string') yield new Uint8Array(chunk);
  } finally {
    socket.close();
    messages.close();
  }
}

async function restOf(messages: Messages): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (let chunk = await messages.next(); chunk !== undefined; chunk = await messages.next())
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
  return text;
}

class Messages {
  readonly #queue: (string | ArrayBuffer)[] = [];
  readonly #signal: AbortSignal;
  readonly #abort = () => this.#end(new Error('the request was cancelled'));
  /** Why the stream ended: undefined while the socket is open, null after it was closed normally. */
  #failure: Error | null | undefined;
  #wake = () => {};

  constructor(socket: WebSocket, signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#abort);
    socket.addEventListener('message', ({ data }) => {
      this.#queue.push(data as string | ArrayBuffer);
      this.#wake();
    });
    socket.addEventListener('close', ({ code }) =>
      this.#end(code === NORMAL_CLOSURE ? null : new Error('the connection was lost')),
    );
  }

  /**
   * Resolves to the next message, or to undefined after the socket was closed normally. Rejects if the connection is lost or the signal
   * aborts.
   */
  async next(): Promise<string | ArrayBuffer | undefined> {
    while (this.#queue.length === 0 && this.#failure === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#failure instanceof Error && this.#signal.aborted) throw this.#failure;
    if (this.#queue.length > 0) return this.#queue.shift();
    if (this.#failure !== null) throw this.#failure;
    return undefined;
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#abort);
  }

  #end(failure: Error | null): void {
    if (this.#failure === undefined) this.#failure = failure;
    this.#wake();
  }
}
