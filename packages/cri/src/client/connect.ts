import type { Logger, Registry, Tracer } from '@podwright/base';
import { type CriApiVersion, packageOf } from '../api-version.ts';
import { formatEndpoint, parseEndpoint } from '../endpoint.ts';
import { ImageTransfers } from '../gen/podwright/v1/images_pb.js';
import { Traces } from '../gen/podwright/v1/traces_pb.js';
import { ImageService, RuntimeService } from '../gen/runtime/v1/services_pb.js';
import { DEFAULT_CONNECT_TIMEOUT_MS } from '../limits.ts';
import type { ClientTls } from './channel.ts';
import { Connection } from './connection.ts';
import { negotiateVersion } from './negotiate-version.ts';
import { createCallObserver } from './observer.ts';
import { createServiceClient, type ServiceClient } from './service-client.ts';

/** Options of `connectCri`. */
export type ConnectOptions = {
  /** `unix:///path`, an absolute path, or `tcp://host:port`. */
  runtimeEndpoint: string;
  /** Where images are, if elsewhere; otherwise both services share one connection. */
  imageEndpoint?: string;
  /** TLS for `tcp://` endpoints; without it they are plain text. */
  tls?: ClientTls;
  logger: Logger;
  /** Where calls are counted, as `kubelet_runtime_operations_*`. */
  metrics?: Registry;
  /** Knows the trace that a call is part of, which the runtime is told (`traceparent`). */
  tracer?: Tracer;
  /** Deadline of ordinary calls, the kubelet's `runtimeRequestTimeout`; 2 min if left out. */
  requestTimeoutMs?: number;
  /** How long to wait for a runtime that is not up yet, `Infinity` until the signal aborts; 10 s if left out. */
  connectTimeoutMs?: number;
  /** `auto` (the default) takes v1, or v1alpha2 from a runtime that has no v1. */
  apiVersion?: CriApiVersion | 'auto';
  /** Ends the waiting for the runtime. */
  signal?: AbortSignal;
};

/** A connected CRI client. It reconnects on its own and keeps the version that it found. */
export type CriClient = {
  readonly runtime: ServiceClient<typeof RuntimeService>;
  readonly image: ServiceClient<typeof ImageService>;
  /** Podwright's own service beside the ImageService; a foreign runtime answers `unimplemented`. */
  readonly transfers: ServiceClient<typeof ImageTransfers>;
  /** What the runtime did for traced calls; a foreign runtime answers `unimplemented`. */
  readonly traces: ServiceClient<typeof Traces>;
  /** The version of the RuntimeService in use. */
  readonly apiVersion: CriApiVersion;
  /** Ends the connections; running calls fail as cancelled. */
  close(): void;
};

/**
 * Connects to a container runtime and finds the CRI version it speaks.
 *
 * Throws `invalid_argument` for an endpoint that makes no sense, `unavailable` if no runtime answers in time, and
 * `unimplemented` if what answers is not a CRI runtime.
 */
export async function connectCri(options: ConnectOptions): Promise<CriClient> {
  const observer = createCallObserver(options.logger, options.metrics);
  const open: Connection[] = [];
  const connect = async (endpointText: string, service: 'runtime' | 'image') => {
    const endpoint = parseEndpoint(endpointText);
    const { requestTimeoutMs, tracer } = options;
    const tls = endpoint.kind === 'tcp' ? options.tls : undefined;
    const connection = new Connection(endpoint, { observer, tls, requestTimeoutMs, tracer });
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
