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

/** Options for `connectCri`. */
export type ConnectOptions = {
  /** `unix:///path`, an absolute path, or `tcp://host:port`. */
  runtimeEndpoint: string;
  /** Endpoint of the ImageService. If omitted, it shares the connection to `runtimeEndpoint`. */
  imageEndpoint?: string;
  /** TLS for `tcp://` endpoints; plaintext if omitted. */
  tls?: ClientTls;
  logger: Logger;
  /** Registry for the `kubelet_runtime_operations_*` metrics. */
  metrics?: Registry;
  /** Provides the current trace context, which each call sends to the container runtime as `traceparent`. */
  tracer?: Tracer;
  /** Deadline of ordinary calls: the kubelet's `runtimeRequestTimeout`. Default: 2 minutes. */
  requestTimeoutMs?: number;
  /** How long to wait for a container runtime that has not started yet. Default: 10 seconds; `Infinity` waits until `signal` aborts. */
  connectTimeoutMs?: number;
  /** `auto`, the default, uses v1, or v1alpha2 if the container runtime does not serve v1. */
  apiVersion?: CriApiVersion | 'auto';
  /** Aborts the wait for the container runtime. */
  signal?: AbortSignal;
};

/** A connected CRI client. It reconnects automatically; the negotiated version does not change. */
export type CriClient = {
  readonly runtime: ServiceClient<typeof RuntimeService>;
  readonly image: ServiceClient<typeof ImageService>;
  /**
   * Podwright's own service for image transfer progress, image archives and image cleanup. Other container runtimes return `unimplemented`.
   */
  readonly transfers: ServiceClient<typeof ImageTransfers>;
  /**
   * Podwright's own service that returns the spans recorded by the container runtime for traced calls. Other container runtimes return
   * `unimplemented`.
   */
  readonly traces: ServiceClient<typeof Traces>;
  /** The RuntimeService version in use. */
  readonly apiVersion: CriApiVersion;
  /** Closes the connections. In-flight calls fail as cancelled. */
  close(): void;
};

/**
 * Connects to a container runtime and negotiates the CRI version.
 *
 * Throws `invalid_argument` for an invalid endpoint, `unavailable` if no container runtime answers in time, and `unimplemented` if the
 * server is not a CRI runtime.
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
