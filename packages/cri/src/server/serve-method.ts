import { once } from 'node:events';
import { create, type DescMessage, type DescMethod, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { Metadata, type ServerUnaryCall, type ServerWritableStream, type sendUnaryData } from '@grpc/grpc-js';
import {
  errorCode,
  errorMessage,
  PodwrightError,
  parseTraceparent,
  raceAbort,
  statusNumber,
  TRACEPARENT,
  type Tracer,
  wrapError,
} from '@podwright/base';
import { MAX_MESSAGE_BYTES } from '../limits.ts';
import type { ActiveCall, ActiveCalls } from './active-calls.ts';
import type { CallContext } from './handlers.ts';
import type { ObservedCall, ServerObserver } from './observer.ts';

/** The status message travels in a header: what is longer is cut, in characters. */
const MAX_DETAILS = 4096;

/** A method as it is served: its service's name on the wire, and its handler. */
export type ServedMethod = {
  service: string;
  method: DescMethod;
  handler: ((request: Message, context: CallContext) => unknown) | undefined;
  calls: ActiveCalls;
  observer: ServerObserver;
  /** Calls that come with a trace context are spans of its. */
  tracer: Tracer | undefined;
};

/** A call as grpc-js gives it, its request not yet decoded. */
type RawCall = ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>;

/** Answers a unary method, for grpc-js. */
export function serveUnary(served: ServedMethod) {
  return (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>): void => {
    void answer(served, call, async (request, context, active) => {
      const handle = () => handlerOf(served)(request, context) as Promise<object>;
      const response = (await active.race(traced(served, call, handle))) ?? {};
      const bytes = encode(served.method.output, response);
      return () => callback(null, bytes);
    }).then(
      (reply) => reply(),
      (error) => callback(errorStatus(error)),
    );
  };
}

/** Answers a server-streaming method, for grpc-js. */
export function serveStream(served: ServedMethod) {
  return (call: ServerWritableStream<Buffer, Buffer>): void => {
    void answer(served, call, async (request, context) => {
      const responses = handlerOf(served)(request, context) as AsyncIterable<object>;
      call.sendMetadata(new Metadata()); // the client sees that the stream stands before anything happens
      await sendAll(responses, { call, schema: served.method.output, signal: context.signal });
      return () => call.end();
    }).then(
      (reply) => reply(),
      (error) => call.emit('error', errorStatus(error)),
    );
  };
}

/** Decodes the request, runs `work` with its context, and reports to the observer how it ended. */
async function answer<T>(
  { service, method, calls, observer }: ServedMethod,
  call: RawCall,
  work: (request: Message, context: CallContext, active: ActiveCall) => Promise<T>,
): Promise<T> {
  const active = calls.begin(call, { streaming: method.methodKind === 'server_streaming' });
  const observed: ObservedCall = { service, method, request: undefined };
  const done = observer.started(observed);
  try {
    observed.request = decode(method.input, call.request);
    const context = {
      service,
      method: method.name,
      get signal() {
        return active.signal;
      },
    };
    const result = await work(observed.request, context, active);
    done();
    return result;
  } catch (error) {
    done(error);
    throw error;
  } finally {
    active.end();
  }
}

/** Handles a call as a span of the trace that its client is in; of none in nearly no time. */
function traced<T>(
  { service, method, tracer }: ServedMethod,
  { metadata }: RawCall,
  handle: () => Promise<T>,
): Promise<T> {
  const [header] = tracer === undefined ? [] : metadata.get(TRACEPARENT);
  const parent = parseTraceparent(header?.toString());
  if (tracer === undefined || parent === undefined) return handle();
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method.name };
  return tracer.record({ parent, name: method.name, attributes, isServer: true }, handle);
}

function handlerOf({ service, method, handler }: ServedMethod): NonNullable<ServedMethod['handler']> {
  if (handler !== undefined) return handler;
  throw unimplemented(method, service);
}

/** What a method without a handler answers. */
export function unimplemented(method: DescMethod, service = method.parent.typeName): PodwrightError {
  return new PodwrightError('unimplemented', `method ${method.name} of ${service} is not implemented`);
}

/** Writes the responses as fast as the client takes them; stops at once, even between two responses, on an abort. */
async function sendAll(
  responses: AsyncIterable<object>,
  { call, schema, signal }: { call: ServerWritableStream<Buffer, Buffer>; schema: DescMessage; signal: AbortSignal },
): Promise<void> {
  const iterator = responses[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await raceAbort(iterator.next(), signal);
      if (next.done) return;
      if (!call.write(encode(schema, next.value))) await raceAbort(once(call, 'drain', { signal }), signal);
    }
  } finally {
    Promise.resolve(iterator.return?.()).catch(() => undefined); // the client has its answer, whatever happens here
  }
}

function decode(schema: DescMessage, bytes: Uint8Array): Message {
  try {
    return fromBinary(schema, bytes);
  } catch (error) {
    throw wrapError(`decode ${schema.name}`, error, 'invalid_argument');
  }
}

function encode(schema: DescMessage, fields: object): Buffer {
  const bytes = encodeFields(schema, fields);
  if (bytes.length > MAX_MESSAGE_BYTES) {
    throw new PodwrightError(
      'resource_exhausted',
      `${schema.name} has ${bytes.length} bytes, more than the ${MAX_MESSAGE_BYTES} that a CRI message may have: filter the list or use its streaming call`,
    );
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function encodeFields(schema: DescMessage, fields: object): Uint8Array {
  try {
    return toBinary(schema, create(schema, fields as Record<string, unknown>));
  } catch (error) {
    throw wrapError(`encode ${schema.name}`, error, 'internal');
  }
}

/** What a client is told about a failed call. */
function errorStatus(error: unknown): { code: number; details: string } {
  const message = errorMessage(error).toWellFormed(); // grpc-js throws on a lone surrogate
  const details = message.length > MAX_DETAILS ? `${message.slice(0, MAX_DETAILS).toWellFormed()}…` : message;
  return { code: statusNumber(errorCode(error)), details };
}
