import { create, type DescMessage, type DescMethod, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import {
  ignoreFailure,
  PodwrightError,
  parseTraceparent,
  raceAbort,
  TRACEPARENT,
  type Tracer,
  wrapError,
} from '@podwright/base';
import { MAX_MESSAGE_BYTES } from '../limits.ts';
import { PREFIX_BYTES, withPrefix } from '../message-reader.ts';
import type { ActiveCall, ActiveCalls } from './active-calls.ts';
import { sentBytes } from './encoded-list.ts';
import type { GrpcCall } from './grpc-call.ts';
import type { AnswerCall } from './grpc-server.ts';
import type { CallContext } from './handlers.ts';
import type { ObservedCall, ServerObserver } from './observer.ts';

/** A served method: the fully qualified name of its service, and its handler. */
export type ServedMethod = {
  service: string;
  method: DescMethod;
  handler: ((request: Message, context: CallContext) => unknown) | undefined;
  calls: ActiveCalls;
  observer: ServerObserver;
  /** Records a span for each call that carries a trace context. */
  tracer: Tracer | undefined;
};

/** Returns a function that answers calls of a unary method. */
export function serveUnary(served: ServedMethod): AnswerCall {
  return (call) => {
    void answer(served, call, async (request, context, active) => {
      const handle = () => handlerOf(served)(request, context) as Promise<object>;
      const response = (await active.race(traced(served, call, handle))) ?? {};
      const bytes = encode(served.method.output, response);
      return () => call.reply(bytes);
    });
  };
}

/** Returns a function that answers calls of a server-streaming method. */
export function serveStream(served: ServedMethod): AnswerCall {
  return (call) => {
    void answer(served, call, async (request, context) => {
      const responses = handlerOf(served)(request, context) as AsyncIterable<object>;
      call.open(); // sends headers first, so the client sees that the stream is open
      await sendAll(responses, { call, schema: served.method.output, signal: context.signal });
      return () => call.end();
    });
  };
}

/** Reads a call's request, runs `work` with the call's context, and reports the outcome to the observer before the call ends. */
async function answer(
  { service, method, calls, observer }: ServedMethod,
  call: GrpcCall,
  work: (request: Message, context: CallContext, active: ActiveCall) => Promise<() => void>,
): Promise<void> {
  const observed: ObservedCall = { service, method, request: undefined };
  const done = observer.started(observed);
  let active: ActiveCall | undefined;
  try {
    active = calls.begin(call, { streaming: method.methodKind === 'server_streaming' });
    observed.request = decode(method.input, await active.race(call.request()));
    const reply = await work(observed.request, contextOf(active, call, { service, method }), active);
    active.end();
    done();
    reply();
  } catch (error) {
    active?.end();
    done(error);
    call.fail(error);
  }
}

function contextOf(
  active: ActiveCall,
  call: GrpcCall,
  { service, method }: Pick<ServedMethod, 'service' | 'method'>,
): CallContext {
  return {
    service,
    method: method.name,
    header: (name) => call.header(name),
    get signal() {
      return active.signal;
    },
  };
}

/** Handles a call, within a span if the client sent a trace context. Otherwise, this adds almost no overhead. */
function traced<T>({ service, method, tracer }: ServedMethod, call: GrpcCall, handle: () => Promise<T>): Promise<T> {
  const parent = parseTraceparent(call.header(TRACEPARENT));
  if (tracer === undefined || parent === undefined) return handle();
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method.name };
  return tracer.record({ parent, name: method.name, attributes, isServer: true }, handle);
}

function handlerOf({ service, method, handler }: ServedMethod): NonNullable<ServedMethod['handler']> {
  if (handler !== undefined) return handler;
  throw unimplemented(method, service);
}

/** Creates the error for a call of a method without a handler. */
export function unimplemented(method: DescMethod, service = method.parent.typeName): PodwrightError {
  return new PodwrightError('unimplemented', `method ${method.name} of ${service} is not implemented`);
}

/**
 * Sends the responses as fast as the client reads them. Stops immediately when the signal aborts, even while waiting for the next response.
 */
async function sendAll(
  responses: AsyncIterable<object>,
  { call, schema, signal }: { call: GrpcCall; schema: DescMessage; signal: AbortSignal },
): Promise<void> {
  const iterator = responses[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await raceAbort(iterator.next(), signal);
      if (next.done) return;
      await raceAbort(call.send(encode(schema, next.value)), signal);
    }
  } finally {
    ignoreFailure(Promise.resolve(iterator.return?.()), 'the client has already received its answer');
  }
}

function decode(schema: DescMessage, bytes: Uint8Array): Message {
  try {
    return fromBinary(schema, bytes);
  } catch (error) {
    throw wrapError(`decode ${schema.name}`, error, 'invalid_argument');
  }
}

/** Encodes a response message, preceded by gRPC's 5-byte prefix. */
function encode(schema: DescMessage, fields: object): Buffer {
  const bytes = sentBytes(fields) ?? withPrefix(encodeFields(schema, fields));
  const sizeBytes = bytes.length - PREFIX_BYTES;
  if (sizeBytes > MAX_MESSAGE_BYTES) {
    throw new PodwrightError(
      'resource_exhausted',
      `${schema.name} has ${sizeBytes} bytes, more than the ${MAX_MESSAGE_BYTES} that a message may have: filter the list or use its streaming call`,
    );
  }
  return bytes;
}

function encodeFields(schema: DescMessage, fields: object): Uint8Array {
  try {
    return toBinary(schema, create(schema, fields as Record<string, unknown>));
  } catch (error) {
    throw wrapError(`encode ${schema.name}`, error, 'internal');
  }
}
