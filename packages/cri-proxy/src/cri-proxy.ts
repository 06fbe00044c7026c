import { ByteBudget, type Logger } from '@podwright/base';
import { type Endpoint, RawConnection, serveRawCalls } from '@podwright/grpc';
import { CallDisplay, type DisplayOptions } from './display/call-display.ts';
import { answerCall } from './exchange/answer-call.ts';
import type { Backend } from './exchange/backend.ts';
import { type CallObserver, CallWatch } from './exchange/observe.ts';
import { runtimeBackend } from './exchange/runtime-backend.ts';
import { MAX_HELD_BYTES } from './limits.ts';
import { CallFacts } from './methods/call-facts.ts';
import { criMethods } from './methods/cri-methods.ts';
import type { Recording } from './recording/read-recording.ts';
import { Recorder, RecordingFile } from './recording/recorder.ts';
import { ReplayBackend } from './replay/replay-backend.ts';
import { type Intercept, interceptedBackend } from './script/intercept.ts';
import { seededRandom } from './script/random.ts';
import type { Script } from './script/script.ts';
import { RunningScript } from './script/scripted-backend.ts';

export type CriProxyOptions = {
  /** Path of the socket for kubelets and other clients. Only root may open it. */
  socket: string;
  /** Where calls go: the endpoint of a runtime, or a recording to be replayed. */
  to: Endpoint | Recording;
  logger: Logger;
  /** Writes a line for each call. Default: calls are not displayed. */
  display?: DisplayOptions & { write(line: string): void };
  /** Answers unary calls itself or forwards them to the runtime. */
  intercept?: Intercept;
  /** Rules that modify calls. The same seed produces the same random choices. */
  script?: { script: Script; seed: number };
  /** Path of the recording to write. Must not exist yet. */
  record?: string;
};

/** A running proxy. */
export type CriProxy = {
  readonly endpoint: string;
  /** Ends all calls and closes the recording. Returns whether the recording is complete. */
  close(): Promise<{ isWhole: boolean }>;
};

/** How long calls may continue after `close`, in milliseconds. */
const CLOSE_GRACE_MS = 500;

/**
 * Starts a proxy between clients and a runtime. All gRPC calls are passed through unchanged, even those of unknown services. The runtime
 * can start later than the proxy, and can restart. Throws `already_exists` if another process is listening on the socket, or if the
 * recording exists.
 */
export async function startCriProxy(options: CriProxyOptions): Promise<CriProxy> {
  const { logger, display, to, intercept } = options;
  const facts = new CallFacts(criMethods());
  const file = options.record === undefined ? undefined : new RecordingFile(options.record, logger);
  const observers: CallObserver[] = [];
  if (display !== undefined) observers.push(new CallDisplay(facts, display, display.write));
  if (file !== undefined) observers.push(new Recorder(facts, file));
  const watch = new CallWatch(observers.length === 0 && options.script === undefined ? [] : [facts, ...observers]);
  const [requests, answers] = [new ByteBudget(MAX_HELD_BYTES), new ByteBudget(MAX_HELD_BYTES)];
  const kindOf = (path: string) => facts.methods.get(path)?.kind;
  const replay = 'calls' in to ? new ReplayBackend(to, facts.methods) : undefined;
  const connect = (): { backend: Backend; close(): void } => {
    if ('calls' in to) return { backend: replay!.answer, close: () => undefined };
    const connection = new RawConnection(to);
    return { backend: runtimeBackend(connection), close: () => connection.close() };
  };
  const script = options.script && runningScript(options.script, { facts, watch });
  const serving = serveRawCalls({ socket: options.socket, logger, requests }, (client) => {
    const { backend, close } = connect();
    const scripted = script?.scripted(backend) ?? backend;
    const changed =
      intercept === undefined ? scripted : interceptedBackend(scripted, { intercept, methods: facts.methods });
    const answering = { backend: watch.watched(changed), kindOf, answers, cutConnection: () => client.cut() };
    return { onCall: (call) => void answerCall(call, answering), onClose: close };
  });
  serving.catch(() => file?.discard());
  const server = await serving;
  return {
    endpoint: server.endpoint,
    close: async () => {
      await server.close(CLOSE_GRACE_MS);
      watch.flush();
      const isWhole = file?.isWhole ?? true;
      file?.close();
      return { isWhole };
    },
  };
}

function runningScript(
  { script, seed }: NonNullable<CriProxyOptions['script']>,
  { facts, watch }: { facts: CallFacts; watch: CallWatch },
): RunningScript {
  const random = seededRandom(seed);
  return new RunningScript({ script, random, facts, addFault: (request, fault) => watch.addFault(request, fault) });
}
