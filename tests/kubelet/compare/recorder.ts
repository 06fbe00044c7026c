import { toJson } from '@bufbuild/protobuf';
import { errorMessage } from '@podwright/base';
import { type CriProxy, type ProxiedCall, startCriProxy } from '../cri-proxy.fixture.ts';

/** A unary call of a kubelet, with request and response as protobuf's JSON. */
export type RecordedCall = {
  method: string;
  /** Time of the request since 1970, and duration of the call. */
  atMs: number;
  tookMs?: number;
  request: Record<string, unknown>;
  response?: Record<string, unknown>;
  error?: string;
};

/** A CRI proxy between a kubelet and its runtime that records requests and answers. */
export type Recorder = Pick<CriProxy, 'endpoint' | 'close'> & { calls: RecordedCall[] };

export async function startRecorder(socket: string, runtimeEndpoint: string): Promise<Recorder> {
  const calls: RecordedCall[] = [];
  const { endpoint, close } = await startCriProxy(socket, {
    runtimeEndpoint,
    intercept: (call, forward) => record(call, forward, calls),
  });
  return { endpoint, calls, close };
}

async function record(
  { method, request }: ProxiedCall,
  forward: () => Promise<object>,
  calls: RecordedCall[],
): Promise<object> {
  const atMs = Date.now();
  const call = { method: method.name, atMs, request: toJson(method.input, request as never) } as RecordedCall;
  calls.push(call);
  try {
    const response = await forward();
    call.response = toJson(method.output, response as never) as RecordedCall['response'];
    return response;
  } catch (error) {
    call.error = errorMessage(error);
    throw error;
  } finally {
    call.tookMs = Date.now() - atMs;
  }
}
