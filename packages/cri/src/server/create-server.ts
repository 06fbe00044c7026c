import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { type Logger, PodwrightError, type Registry, type Tracer } from '@podwright/base';
import { packageOf, servedIn } from '../api-version.ts';
import { ImageService, RuntimeService } from '../gen/runtime/v1/services_pb.js';
import { DEFAULT_CLOSE_GRACE_MS, MAX_CONNECTION_IDLE_MS, MAX_MESSAGE_BYTES } from '../limits.ts';
import { grpcServiceDefinition, type ServiceDefinitionOptions } from '../service-definition.ts';
import { ActiveCalls } from './active-calls.ts';
import { type HandledService, handleService, type ImageHandlers, type RuntimeHandlers } from './handlers.ts';
import { createHealthService } from './health.ts';
import { Listeners, type TcpOptions } from './listeners.ts';
import { clampLongDeadlines } from './long-deadlines.ts';
import { createServerObserver } from './observer.ts';
import { addReflection } from './reflection.ts';
import { type ServedMethod, serveStream, serveUnary } from './serve-method.ts';
import type { ServedService } from './served-files.ts';

/** Options of `createCriServer`. */
export type CriServerOptions = {
  /** Path of the unix socket. */
  socket: string;
  /** Permissions of the socket; 0600 if left out. */
  mode?: number;
  /** A TCP listener beside the socket. */
  tcp?: TcpOptions;
  handlers: { runtime: Partial<RuntimeHandlers>; image: Partial<ImageHandlers> };
  /** Services of one's own on the same socket, from `handleService`. */
  extraServices?: HandledService[];
  logger: Logger;
  /** Where calls are counted, as `grpc_server_*`. */
  metrics?: Registry;
  /** Records calls that come with a trace context (`traceparent`). */
  tracer?: Tracer;
};

/** A server that listens. */
export type CriServer = {
  /** `unix://` and the path of the socket. */
  readonly endpoint: string;
  /** The port of the TCP listener, if there is one. */
  readonly tcpPort: number | undefined;
  /**
   * Stops listening, removes the socket, ends the streams, waits up to `graceMs` (5 s) for the calls under way,
   * and then ends those too. May be called more than once.
   */
  close(graceMs?: number): Promise<void>;
};

/** Calls at once on one connection. */
const MAX_CONCURRENT_STREAMS = 1000;

/**
 * Serves RuntimeService and ImageService, in v1 and v1alpha2, with reflection and health, and listens.
 *
 * Throws `already_exists` if a running daemon has the socket; a dead one's socket is replaced.
 */
export async function createCriServer(options: CriServerOptions): Promise<CriServer> {
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_concurrent_streams': MAX_CONCURRENT_STREAMS,
    'grpc.max_connection_idle_ms': MAX_CONNECTION_IDLE_MS,
    'grpc.enable_channelz': 0,
  });
  const calls = new ActiveCalls();
  const { logger, metrics, tracer } = options;
  const environment = { calls, observer: createServerObserver(logger, metrics), tracer };
  const served = servicesOf(options).map((service) => addService(server, service, environment));
  const health = createHealthService(served.map(({ fullName }) => fullName));
  addReflection(server, [...served, addService(server, asDeclared(health.service), environment)]);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const stopClamping = clampLongDeadlines();
  const listeners = await Listeners.open(options, (connection) => injector.injectConnection(connection)).catch(
    (error: unknown) => {
      stopClamping();
      throw error;
    },
  );
  const close = async (graceMs: number) => {
    health.stopServing();
    await listeners.stop();
    calls.abort('streams', new PodwrightError('unavailable', 'the server is closing'));
    server.tryShutdown(() => undefined); // tells the clients; since Node.js 24 it does not wait for their calls
    await listeners.drained(graceMs);
    calls.abort('all', new PodwrightError('unavailable', 'the server is closing'));
    listeners.destroyConnections();
    server.forceShutdown();
    stopClamping();
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

/** A service in the package of its own file, with all of its methods. */
function asDeclared(handled: HandledService): Versioned {
  return { ...handled, options: { packageName: handled.service.file.proto.package } };
}

/** Registers a service with grpc-js in bytes: messages are decoded and encoded by us, so that failures are ours to name. */
function addService(
  server: Server,
  { service, handlers, options }: Versioned,
  environment: Pick<ServedMethod, 'calls' | 'observer' | 'tracer'>,
): ServedService {
  const fullName = `${options.packageName}.${service.name}`;
  const definition: ServiceDefinition = {};
  const implementation: UntypedServiceImplementation = {};
  for (const [name, method] of Object.entries(grpcServiceDefinition(service, options))) {
    const descriptor = service.method[name]!;
    const handler = handlers[name]?.bind(handlers) as Parameters<typeof serveUnary>[0]['handler'];
    const served: ServedMethod = { service: fullName, method: descriptor, handler, ...environment };
    Object.assign(definition, { [name]: { ...method, requestDeserialize: asIs, responseSerialize: asIs } });
    implementation[name] = method.responseStream ? serveStream(served) : serveUnary(served);
  }
  server.addService(definition, implementation);
  const methods = Object.keys(definition).map((name) => service.method[name]!.name);
  return { fullName, packageName: options.packageName, file: service.file, methods };
}

const asIs = (bytes: Buffer): Buffer => bytes;
