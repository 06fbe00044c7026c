import type { Logger, Registry, Tracer } from '@podwright/base';
import {
  type ClientTls,
  Connection,
  createServiceClient,
  formatEndpoint,
  parseEndpoint,
  type ServiceClient,
} from '@podwright/grpc';
import { type CriApiVersion, packageOf } from '../api-version.ts';
import { ImageTransfers } from '../gen/podwright/v1/images_pb.js';
import { Traces } from '../gen/podwright/v1/traces_pb.js';
import { ImageService, RuntimeService } from '../gen/runtime/v1/services_pb.js';
import { DEFAULT_CONNECT_TIMEOUT_MS } from '../limits.ts';
import { defaultTimeoutMs } from './deadlines.ts';
import { negotiateVersion } from './negotiate-version.ts';
import { createCallObserver } from './observer.ts';

/** Options of `connectCri`. */
export type ConnectOptions = {
  /** `unix:///path`, an absolute path, or `tcp://host:port`. */
  runtimeEndpoint: string;
  /** Endpoint of the ImageService. If omitted, the ImageService shares the connection to `runtimeEndpoint`. */
  imageEndpoint?: string;
  /** TLS for `tcp://` endpoints; plaintext if omitted. */
  tls?: ClientTls;
  logger: Logger;
  /** Registry for the call metrics, `kubelet_runtime_operations_*`. */
  metrics?: Registry;
  /** Source of the current trace context, which each call sends to the runtime as `traceparent`. */
  tracer?: Tracer;
  /** Deadline of ordinary calls: the kubelet's `runtimeRequestTimeout`. Default 2 min. */
  requestTimeoutMs?: number;
  /** How long to wait for a runtime that has not started yet. Default 10 s; `Infinity` waits until `signal` aborts. */
  connectTimeoutMs?: number;
  /** `auto` (the default) uses v1, or v1alpha2 if the runtime does not serve v1. */
  apiVersion?: CriApiVersion | 'auto';
  /** Aborts the wait for the runtime. */
  signal?: AbortSignal;
};

/** A connected CRI client. It reconnects by itself; the negotiated version does not change. */
export type CriClient = {
  readonly runtime: ServiceClient<typeof RuntimeService>;
  readonly image: ServiceClient<typeof ImageService>;
  /** Podwright's own service for progress, archives and cleanup of images; other runtimes return `unimplemented`. */
  readonly transfers: ServiceClient<typeof ImageTransfers>;
  /** Podwright's own service for the spans that the runtime recorded for traced calls; other runtimes return `unimplemented`. */
  readonly traces: ServiceClient<typeof Traces>;
  /** The version of the RuntimeService in use. */
  readonly apiVersion: CriApiVersion;
  /** Closes the connections; running calls fail as cancelled. */
  close(): void;
};

/**
 * Connects to a container runtime and negotiates the CRI version.
 *
 * Throws `invalid_argument` for an invalid endpoint, `unavailable` if no runtime answers in time, and `unimplemented` if the server is
 * not a CRI runtime.
 */
export async function connectCri(options: ConnectOptions): Promise<CriClient> {
  const observer = createCallObserver(options.logger, options.metrics);
  const open: Connection[] = [];
  const connect = async (endpointText: string, service: 'runtime' | 'image') => {
    const endpoint = parseEndpoint(endpointText);
    const { requestTimeoutMs, tracer } = options;
    const timeoutOf = (method: string, request: object) => defaultTimeoutMs(method, request, requestTimeoutMs);
    const tls = endpoint.kind === 'tcp' ? options.tls : undefined;
    const connection = new Connection(endpoint, { observer, tls, timeoutOf, tracer });
    open.push(connection);
    const apiVersion = await negotiateVersion({
      connection,
      endpoint: formatEndpoint(endpoint),
      service,
      apiVersion: options.apiVersion ?? 'auto',
      connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
      signal: options.signal,
    });
    options.logger.info({ endpoint: formatEndpoint(endpoint), apiVersion, service }, 'connected to the runtime');
    return { connection, apiVersion };
  };
  try {
    const runtime = await connect(options.runtimeEndpoint, 'runtime');
    const shared = options.imageEndpoint === undefined || sameEndpoint(options.imageEndpoint, options.runtimeEndpoint);
    const image = shared ? runtime : await connect(options.imageEndpoint!, 'image');
    return {
      runtime: createServiceClient(RuntimeService, runtime.connection, { packageName: packageOf(runtime.apiVersion) }),
      image: createServiceClient(ImageService, image.connection, { packageName: packageOf(image.apiVersion) }),
      transfers: createServiceClient(ImageTransfers, image.connection),
      traces: createServiceClient(Traces, runtime.connection),
      apiVersion: runtime.apiVersion,
      close: () => closeAll(open),
    };
  } catch (error) {
    closeAll(open);
    throw error;
  }
}

function closeAll(connections: Connection[]): void {
  for (const connection of connections) connection.close();
}

function sameEndpoint(one: string, other: string): boolean {
  return formatEndpoint(parseEndpoint(one)) === formatEndpoint(parseEndpoint(other));
}
