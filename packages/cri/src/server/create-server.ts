import { type Logger, PodwrightError, type Registry, type Tracer } from '@podwright/base';
import { packageOf, servedIn } from '../api-version.ts';
import { ImageService, RuntimeService } from '../gen/runtime/v1/services_pb.js';
import { DEFAULT_CLOSE_GRACE_MS } from '../limits.ts';
import { grpcServiceDefinition, type ServiceDefinitionOptions } from '../service-definition.ts';
import { ActiveCalls } from './active-calls.ts';
import { type AnswerCall, GrpcServer } from './grpc-server.ts';
import { type HandledService, handleService, type ImageHandlers, type RuntimeHandlers } from './handlers.ts';
import { createHealthService } from './health.ts';
import { Listeners, type TcpOptions } from './listeners.ts';
import { createServerObserver } from './observer.ts';
import { reflectionMethods } from './reflection.ts';
import { type ServedMethod, serveStream, serveUnary } from './serve-method.ts';
import type { ServedService } from './served-files.ts';

/** Options of `createCriServer`. */
export type CriServerOptions = {
  /** Path of the unix socket. */
  socket: string;
  /** Permissions of the socket. Default 0600. */
  mode?: number;
  /** An additional TCP listener. */
  tcp?: TcpOptions;
  handlers: { runtime: Partial<RuntimeHandlers>; image: Partial<ImageHandlers> };
  /** Additional services on the same socket, from `handleService`. */
  extraServices?: HandledService[];
  logger: Logger;
  /** Registry for the call metrics, `grpc_server_*`. */
  metrics?: Registry;
  /** Records a span for each call with a trace context (`traceparent`). */
  tracer?: Tracer;
};

/** A listening server. */
export type CriServer = {
  /** URL of the unix socket: `unix://` and its path. */
  readonly endpoint: string;
  /** Port of the TCP listener, if there is one. */
  readonly tcpPort: number | undefined;
  /**
   * Stops listening, removes the socket, ends the streams, waits up to `graceMs` (default 5 s) for running calls, and then ends those too.
   * May be called more than once.
   */
  close(graceMs?: number): Promise<void>;
};

/**
 * Listens, and serves RuntimeService and ImageService in v1 and v1alpha2, with reflection and health.
 *
 * Throws `already_exists` if a running process listens on the socket; a stale socket is replaced.
 */
export function createCriServer(options: CriServerOptions): Promise<CriServer> {
  return listen(options, servicesOf(options));
}

/** Serves gRPC services on a unix socket, with reflection and health. The options are those of `createCriServer`. */
export function serveServices(
  services: HandledService[],
  options: Omit<CriServerOptions, 'handlers' | 'extraServices' | 'tcp'>,
): Promise<CriServer> {
  return listen(options, services.map(asDeclared));
}

async function listen(
  options: Omit<CriServerOptions, 'handlers' | 'extraServices'>,
  services: Versioned[],
): Promise<CriServer> {
  const calls = new ActiveCalls();
  const { logger, metrics, tracer } = options;
  const environment = { calls, observer: createServerObserver(logger, metrics), tracer };
  const methods = new Map<string, AnswerCall>();
  const add = (service: Versioned) => addService(methods, service, environment);
  const served = services.map(add);
  const health = createHealthService(served.map(({ fullName }) => fullName));
  const all = [...served, add(asDeclared(health.service))];
  for (const [path, answer] of reflectionMethods(all)) methods.set(path, answer);
  const server = new GrpcServer(methods, logger);
  const listeners = await Listeners.open(options, (connection) => server.accept(connection));
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

type Versioned = HandledService & { options: ServiceDefinitionOptions & { packageName: string } };

function servicesOf({ handlers, extraServices = [] }: CriServerOptions): Versioned[] {
  const cri = [handleService(RuntimeService, handlers.runtime), handleService(ImageService, handlers.image)];
  return [
    ...(['v1', 'v1alpha2'] as const).flatMap((version) =>
      cri.map((handled) => ({
        ...handled,
        options: { ...servedIn(handled.service, version), packageName: packageOf(version) },
      })),
    ),
    ...extraServices.map(asDeclared),
  ];
}

/** A service with the package that its file declares, and with all of its methods. */
function asDeclared(handled: HandledService): Versioned {
  return { ...handled, options: { packageName: handled.service.file.proto.package } };
}

/** Adds the methods of a service by path. */
function addService(
  methods: Map<string, AnswerCall>,
  { service, handlers, options }: Versioned,
  environment: Pick<ServedMethod, 'calls' | 'observer' | 'tracer'>,
): ServedService {
  const fullName = `${options.packageName}.${service.name}`;
  const definition = Object.entries(grpcServiceDefinition(service, options));
  for (const [name, { path, responseStream }] of definition) {
    const handler = handlers[name]?.bind(handlers) as ServedMethod['handler'];
    const served: ServedMethod = { service: fullName, method: service.method[name]!, handler, ...environment };
    methods.set(path, responseStream ? serveStream(served) : serveUnary(served));
  }
  const names = definition.map(([name]) => service.method[name]!.name);
  return { fullName, packageName: options.packageName, file: service.file, methods: names };
}
