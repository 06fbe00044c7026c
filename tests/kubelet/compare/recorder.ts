import { type Message, toJson } from '@bufbuild/protobuf';
import { errorMessage } from '@podwright/base';
import type { InterceptedCall } from '@podwright/cri-proxy';
import { type CriProxy, startTestProxy } from '../cri-proxy.fixture.ts';

/** A unary call by a kubelet, with its request and response as protobuf JSON. */
export type RecordedCall = {
  method: string;
  /** When the request was made (Unix time). `tookMs` is how long the call took. */
  atMs: number;
  tookMs?: number;
  request: Record<string, unknown>;
  response?: Record<string, unknown>;
  error?: string;
};

/** A CRI proxy between a kubelet and its runtime that records requests and responses. */
export type Recorder = Pick<CriProxy, 'endpoint' | 'close'> & { calls: RecordedCall[] };

export async function startRecorder(socket: string, runtimeEndpoint: string): Promise<Recorder> {
  const calls: RecordedCall[] = [];
  const { endpoint, close } = await startTestProxy(socket, {
    runtimeEndpoint,
    intercept: (call, forward) => record(call, forward, calls),
  });
  return { endpoint, calls, close };
}

async function record(
  { method, request }: InterceptedCall,
  forward: () => Promise<Message>,
  calls: RecordedCall[],
): Promise<Message> {
  const atMs = Date.now();
  const call = { method: method.name, atMs, request: toJson(method.input, request) } as RecordedCall;
  calls.push(call);
  try {
    const response = await forward();
    call.response = toJson(method.output, response) as RecordedCall['response'];
    return response;
  } catch (error) {
    call.error = errorMessage(error);
    throw error;
  } finally {
    call.tookMs = Date.now() - atMs;
  }
}
