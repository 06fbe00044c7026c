import type { HeaderField, RawEnd } from '@podwright/grpc';

/** A call of a client. Messages are bytes as on the wire, with gRPC's prefix of five bytes. */
export type ProxyRequest = {
  /** Such as `/runtime.v1.RuntimeService/Version`. */
  readonly path: string;
  /** All header fields, including `:path`. */
  readonly fields: readonly HeaderField[];
  /** The request, if the method is known and its request is one message; otherwise `messages` yields the request. */
  readonly message: Buffer | undefined;
  /** `performance.now()` when the proxy received the call. */
  readonly receivedAtMs: number;
  /** Aborts when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  /** Yields the messages of the request. Must not be called if `message` is set. */
  messages(): AsyncIterable<Buffer>;
  /** Closes the connection of the client, which ends all its calls. */
  cutConnection(): void;
};

/** The answer to a call. */
export type ProxyAnswer = {
  /** `undefined` if the call ends without headers, as most failed calls do. */
  readonly headers: readonly HeaderField[] | undefined;
  /** Must be iterated exactly once. It ends when the call has ended; `end` has the result. */
  readonly messages: AsyncIterable<Buffer>;
  /** How the call has ended. Valid after the last message. */
  end(): Promise<RawEnd>;
};

/** Answers a call. Backends are a runtime, a recording, and wrappers that change or observe calls. Rejects if it cannot make the call. */
export type Backend = (request: ProxyRequest) => Promise<ProxyAnswer>;
