import type { Message } from '@bufbuild/protobuf';
import {
  type ChannelCredentials,
  Client,
  type ClientReadableStream,
  Metadata,
  type MethodDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { errorCodeOfStatus, formatTraceparent, PodwrightError, TRACEPARENT, type Tracer } from '@podwright/base';
import { type CriEndpoint, grpcTarget } from '../endpoint.ts';
import { MAX_MESSAGE_BYTES, RECONNECT_MS } from '../limits.ts';
import { defaultTimeoutMs } from './deadlines.ts';
import type { CallObserver } from './observer.ts';

/** Options of one call. */
export type CallOptions = {
  /** Cancels the call; it then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** How long the call may take, instead of the default of its method; `Infinity` for no bound. */
  timeoutMs?: number;
  /** Decodes the response of a call that has one, in the place of its method's decoder. */
  decode?: (bytes: Buffer) => Message;
};

/** One call: the method's local name and definition, and the fields of its request. */
export type Call = {
  name: string;
  method: MethodDefinition<Message, Message>;
  request: object;
  options?: CallOptions;
};

/** How much of an answer may come at once: lists of hundreds of containers come without waiting for us in between. */
const WINDOW_BYTES = 1 << 20;

/** A gRPC channel to one endpoint. It connects at the first call, and again whenever the connection is lost. */
export class Connection {
  readonly #client: Client;
  readonly #observer: CallObserver;
  readonly #requestTimeoutMs: number | undefined;
  readonly #tracer: Tracer | undefined;

  constructor(
    endpoint: CriEndpoint,
    credentials: ChannelCredentials,
    {
      observer,
      requestTimeoutMs,
      tracer,
      maxReceiveBytes = MAX_MESSAGE_BYTES,
    }: { observer: CallObserver; requestTimeoutMs?: number; tracer?: Tracer; maxReceiveBytes?: number },
  ) {
    this.#observer = observer;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.#tracer = tracer;
    this.#client = new Client(grpcTarget(endpoint), credentials, {
      'grpc.max_receive_message_length': maxReceiveBytes,
      'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
      'grpc.initial_reconnect_backoff_ms': RECONNECT_MS.initial,
      'grpc.max_reconnect_backoff_ms': RECONNECT_MS.max,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.service_config_disable_resolution': 1,
      'grpc.enable_http_proxy': 0,
      'grpc-node.flow_control_window': WINDOW_BYTES,
      'grpc.enable_channelz': 0,
    });
  }

  close(): void {
    this.#client.close();
  }

  /** Makes a call with one response. */
  async unary(call: Call): Promise<Message> {
    const done = this.#observer.started(call.name);
    try {
      const response = await this.#unary(call);
      done();
      return response;
    } catch (error) {
      done(error);
      throw error;
    }
  }

  /** Makes a call with a stream of responses; the call starts now. */
  serverStream(call: Call): AsyncIterable<Message> {
    const done = this.#observer.started(call.name);
    const signal = call.options?.signal;
    if (signal?.aborted) return failedStream(signal.reason, done);
    const { method } = call;
    const stream: ClientReadableStream<Message> = this.#client.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      call.request as Message,
      this.#metadata(),
      { deadline: this.#deadlineOf(call) },
    );
    return iterateStream(stream, { signal, done });
  }

  /** Tells the server which trace the call is part of, if it is of one. */
  #metadata(): Metadata {
    const metadata = new Metadata();
    const context = this.#tracer?.current();
    if (context !== undefined) metadata.set(TRACEPARENT, formatTraceparent(context));
    return metadata;
  }

  #deadlineOf({ name, request, options }: Call): number {
    const usual = () => defaultTimeoutMs(name, request, this.#requestTimeoutMs) ?? Number.POSITIVE_INFINITY;
    return Date.now() + (options?.timeoutMs ?? usual());
  }

  #unary(call: Call): Promise<Message> {
    const { method } = call;
    const signal = call.options?.signal;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    const onAbort = () => running.cancel();
    const running = this.#client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      call.options?.decode ?? method.responseDeserialize,
      call.request as Message,
      this.#metadata(),
      { deadline: this.#deadlineOf(call) },
      (error, response) => {
        signal?.removeEventListener('abort', onAbort);
        if (error === null) resolve(response!);
        else reject(signal?.aborted ? signal.reason : errorFromService(error));
      },
    );
    signal?.addEventListener('abort', onAbort, { once: true });
    return promise;
  }
}

/**
 * The responses of a stream. grpc-js emits a failure without destroying the stream, so it is kept for a reader
 * that comes later; leaving the loop early cancels the call.
 */
function iterateStream(
  stream: ClientReadableStream<Message>,
  { signal, done }: { signal: AbortSignal | undefined; done: (error?: unknown) => void },
): AsyncIterable<Message> {
  let failure: { error: unknown } | undefined;
  const onAbort = () => stream.cancel();
  signal?.addEventListener('abort', onAbort, { once: true });
  stream.on('error', (error) => {
    failure = { error: signal?.aborted ? signal.reason : errorFromService(error as ServiceError) };
  });
  stream.on('status', () => {
    signal?.removeEventListener('abort', onAbort);
    done(failure?.error);
  });
  return (async function* () {
    try {
      yield* stream;
    } catch (error) {
      throw failure?.error ?? error;
    } finally {
      stream.cancel();
    }
    if (failure !== undefined) throw failure.error;
  })();
}

// biome-ignore lint/correctness/useYield: a stream that fails before its first value
async function* failedStream(reason: unknown, done: (error?: unknown) => void): AsyncGenerator<Message> {
  done(reason);
  throw reason;
}

/** The server's class and message, unchanged; what grpc-js says itself (no connection, deadline) comes the same way. */
function errorFromService({ code, details }: ServiceError): PodwrightError {
  // containerd 2.2 has no handler for UpdatePodSandboxResources, and says so by words alone
  if (code === status.UNKNOWN && /\bnot implemented$/.test(details))
    return new PodwrightError('unimplemented', details);
  return new PodwrightError(errorCodeOfStatus(code), details);
}
