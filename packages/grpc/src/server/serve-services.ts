import { type Logger, PodwrightError, type Registry, type Tracer } from '@podwright/base';
import { DEFAULT_CLOSE_GRACE_MS } from '../limits.ts';
import { grpcServiceDefinition } from '../service-definition.ts';
import { ActiveCalls } from './active-calls.ts';
import { type AnswerCall, GrpcServer } from './grpc-server.ts';
import type { HandledService } from './handlers.ts';
import { createHealthService } from './health.ts';
import { Listeners, type TcpOptions } from './listeners.ts';
import { createServerObserver } from './observer.ts';
import { reflectionMethods } from './reflection.ts';
import { type ServedMethod, serveStream, serveUnary } from './serve-method.ts';
import type { ServedService } from './served-files.ts';

/** Options for `serveServices`. */
export type ServeOptions = {
  /** Path of the Unix socket. */
  socket: string;
  /** Permissions of the socket. Default: 0600. */
  mode?: number;
  /** An additional TCP listener. */
  tcp?: TcpOptions;
  logger: Logger;
  /** Registry for the `grpc_server_*` metrics. */
  metrics?: Registry;
  /** Records a span for each call that carries a trace context (`traceparent`). */
  tracer?: Tracer;
};

/** A listening server. */
export type ListeningServer = {
  /** URL of the Unix socket, `unix://` followed by its path. */
  readonly endpoint: string;
  readonly tcpPort: number | undefined;
  /**
   * Stops listening, removes the socket, ends the streams, waits up to `graceMs` (default: 5 seconds) for in-flight calls, and then ends
   * those as well. May be called more than once.
   */
  close(graceMs?: number): Promise<void>;
};

/**
 * Listens on a socket and serves gRPC services, together with reflection and health checks.
 *
 * Throws `already_exists` if a running process is listening on the socket. A stale socket is replaced.
 */
export async function serveServices(services: HandledService[], options: ServeOptions): Promise<ListeningServer> {
  const calls = new ActiveCalls();
  const { logger, metrics, tracer } = options;
  const environment = { calls, observer: createServerObserver(logger, metrics), tracer };
  const methods = new Map<string, AnswerCall>();
  const add = (service: HandledService) => addService(methods, service, environment);
  const served = services.map(add);
  const health = createHealthService(served.map(({ fullName }) => fullName));
  const all = [...served, add(health.service)];
  for (const [path, answer] of reflectionMethods(all)) methods.set(path, answer);
  const server = new GrpcServer(methods, logger);
  const listeners = await Listeners.open(options, server);
  const close = async (graceMs: number) => {
    health.stopServing();
    await listeners.stop();
    calls.abort('streams', new PodwrightError('unavailable', 'the server is closing'));
    server.retire();
    await listeners.drained(graceMs);
    calls.abort('all', new PodwrightError('unavailable', 'the server is closing'));
    listeners.destroyConnections();
  };
  let closing: Promise<void> | undefined;
  return {
    endpoint: listeners.endpoint,
    tcpPort: listeners.tcpPort,
    close: (graceMs = DEFAULT_CLOSE_GRACE_MS) => (closing ??= close(graceMs)),
  };
}

function addService(
  methods: Map<string, AnswerCall>,
  { service, handlers, definition = {} }: HandledService,
  environment: Pick<ServedMethod, 'calls' | 'observer' | 'tracer'>,
): ServedService {
  const { packageName = service.file.proto.package } = definition;
  const fullName = `${packageName}.${service.name}`;
  const served = Object.entries(grpcServiceDefinition(service, definition));
  for (const [name, { path, responseStream }] of served) {
    const handler = handlers[name]?.bind(handlers) as ServedMethod['handler'];
    const method: ServedMethod = { service: fullName, method: service.method[name]!, handler, ...environment };
    methods.set(path, responseStream ? serveStream(method) : serveUnary(method));
  }
  const names = served.map(([name]) => service.method[name]!.name);
  return { fullName, packageName, file: service.file, methods: names };
}
