import { type DescMethodUnary, toJson } from '@bufbuild/protobuf';
import { errorMessage, silentLogger } from '@podwright/base';
import {
  type CallContext,
  connectCri,
  createCriServer,
  type ImageHandlers,
  ImageService,
  type RuntimeHandlers,
  RuntimeService,
} from '@podwright/cri';

/** A unary call of a kubelet, with request and response as protobuf's JSON. */
export type RecordedCall = {
  method: string;
  /** When it was asked, since 1970, and how long the answer took. */
  atMs: number;
  tookMs?: number;
  request: Record<string, unknown>;
  response?: Record<string, unknown>;
  error?: string;
};

/** A CRI server between a kubelet and its runtime that keeps what is asked and answered. */
export type Recorder = { endpoint: string; calls: RecordedCall[]; close(): Promise<void> };

type Call = (request: object, options: { signal: AbortSignal }) => Promise<never>;

export async function startRecorder(socket: string, runtimeEndpoint: string): Promise<Recorder> {
  const cri = await connectCri({ runtimeEndpoint, logger: silentLogger, connectTimeoutMs: 30_000 });
  const calls: RecordedCall[] = [];
  const server = await createCriServer({
    socket,
    handlers: {
      runtime: recorded(RuntimeService, cri.runtime, calls) as RuntimeHandlers,
      image: recorded(ImageService, cri.image, calls) as ImageHandlers,
    },
    logger: silentLogger,
  });
  const close = async () => {
    await server.close(100);
    cri.close();
  };
  return { endpoint: server.endpoint, calls, close };
}

/** Handlers that hand every call on; streams are not kept. */
function recorded(service: typeof RuntimeService | typeof ImageService, client: object, calls: RecordedCall[]) {
  const handlers = Object.entries(service.method).map(([name, method]) => {
    const forward = (client as Record<string, Call>)[name]!;
    if (method.methodKind !== 'unary') return [name, forward];
    return [name, (request: object, context: CallContext) => record(method, { request, context, forward, calls })];
  });
  return Object.fromEntries(handlers);
}

type Recording = { request: object; context: CallContext; forward: Call; calls: RecordedCall[] };

async function record(method: DescMethodUnary, { request, context, forward, calls }: Recording): Promise<object> {
  const atMs = Date.now();
  const call = { method: method.name, atMs, request: toJson(method.input, request as never) } as RecordedCall;
  calls.push(call);
  try {
    const response = await forward(request, { signal: context.signal });
    call.response = toJson(method.output, response) as RecordedCall['response'];
    return response;
  } catch (error) {
    call.error = errorMessage(error);
    throw error;
  } finally {
    call.tookMs = Date.now() - atMs;
  }
}
