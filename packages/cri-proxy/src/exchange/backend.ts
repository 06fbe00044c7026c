import type { HeaderField, RawEnd } from '@podwright/grpc';

/** A client's call. Messages are in wire format, including gRPC's five-byte prefix. */
export type ProxyRequest = {
  /** The path of the gRPC method, such as `/runtime.v1.RuntimeService/Version`. */
  readonly path: string;
  /** All header fields of the request, including `:path`. */
  readonly fields: readonly HeaderField[];
  /** The request message, if the method is known and takes a single message; otherwise, callers use `messages`. */
  readonly message: Buffer | undefined;
  /** `performance.now()` when the proxy received the call. */
  readonly receivedAtMs: number;
  /** Aborts when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  /** Yields the request messages. Must not be called if `message` is set. */
  messages(): AsyncIterable<Buffer>;
  /** Closes the client's connection, which ends all its calls. */
  cutConnection(): void;
};

/** The response to a call. */
export type ProxyAnswer = {
  /** The response headers; `undefined` if the call ends without headers, as most failed calls do. */
  readonly headers: readonly HeaderField[] | undefined;
  /** The response messages. Must be iterated exactly once. The iteration ends when the call has ended; `end` then returns the outcome. */
  readonly messages: AsyncIterable<Buffer>;
  /** Returns how the call ended. Valid after the last message. */
  end(): Promise<RawEnd>;
};

/**
 * Responds to a call. Backends are a runtime, a recording, and wrappers that modify or observe calls. Rejects if it cannot make the call.
 */
export type Backend = (request: ProxyRequest) => Promise<ProxyAnswer>;
