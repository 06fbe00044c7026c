import type { HeaderField, RawEnd } from '@podwright/grpc';

/** A call of a client. Messages are as on the wire, with their prefixes. */
export type ProxyRequest = {
  /** Such as `/runtime.v1.RuntimeService/Version`. */
  readonly path: string;
  /** All header fields, including `:path`. */
  readonly fields: readonly HeaderField[];
  /** The request, if the method is known to have one message; otherwise it is read from `messages`. */
  readonly message: Buffer | undefined;
  /** `performance.now()` when the proxy received the call. */
  readonly receivedAtMs: number;
  /** Aborts when the client is no longer waiting. */
  readonly signal: AbortSignal;
  /** Yields the messages of the request. Must not be called if `message` is set. */
  messages(): AsyncIterable<Buffer>;
  /** Ends the connection of the client, with all its calls. */
  cutConnection(): void;
};

/** The answer to a call. */
export type ProxyAnswer = {
  /** `undefined` if the call ends without headers, as most failed calls do. */
  readonly headers: readonly HeaderField[] | undefined;
  /** Must be iterated once. It ends when the call has ended, in whatever way. */
  readonly messages: AsyncIterable<Buffer>;
  /** How the call has ended. Valid after the last message. */
  end(): Promise<RawEnd>;
};

/** Answers calls: a runtime, a recording, or one of these behind something that changes calls. Rejects if a call could not be made. */
export type Backend = (request: ProxyRequest) => Promise<ProxyAnswer>;
