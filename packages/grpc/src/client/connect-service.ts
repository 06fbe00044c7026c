import { formatEndpoint, parseEndpoint } from '../endpoint.ts';
import type { TypedService } from '../service-definition.ts';
import type { CallObserver } from './call-observer.ts';
import { Connection } from './connection.ts';
import { createServiceClient, type ServiceClient } from './service-client.ts';

/** A client for one service. `close` closes its connection, which makes in-flight calls fail as `cancelled`. */
export type ConnectedService<S extends TypedService> = ServiceClient<S> & { close(): void };

export type ConnectServiceOptions = {
  maxReceiveBytes: number;
  packageName?: string;
  observer?: CallObserver;
};

const noObserver: CallObserver = { started: () => () => undefined };

/**
 * Connects to a service that a plugin serves on a Unix socket. The connection is opened by the first call, and reopened by the next call
 * after it is lost. `packageName` replaces the service's own package name, to select another version of the service. Responses larger than
 * `maxReceiveBytes` fail with `resource_exhausted`. Throws `invalid_argument` if the socket path is too long.
 */
export function connectService<S extends TypedService>(
  service: S,
  socketPath: string,
  { maxReceiveBytes, packageName, observer = noObserver }: ConnectServiceOptions,
): ConnectedService<S> {
  const endpoint = parseEndpoint(formatEndpoint({ kind: 'unix', path: socketPath }));
  const connection = new Connection(endpoint, { observer, maxReceiveBytes });
  return { ...createServiceClient(service, connection, { packageName }), close: () => connection.close() };
}
