import { formatEndpoint, parseEndpoint } from '../endpoint.ts';
import type { TypedService } from '../service-definition.ts';
import type { CallObserver } from './call-observer.ts';
import { Connection } from './connection.ts';
import { createServiceClient, type ServiceClient } from './service-client.ts';

/** A client of one service. `close` ends its connection: running calls fail as `cancelled`. */
export type ConnectedService<S extends TypedService> = ServiceClient<S> & { close(): void };

export type ConnectServiceOptions = {
  maxReceiveBytes: number;
  packageName?: string;
  /** Observes each call. */
  observer?: CallObserver;
};

const noObserver: CallObserver = { started: () => () => undefined };

/**
 * Connects to a service that a plugin serves on a unix socket. The first call opens the connection; a call that finds it lost reopens it.
 * `packageName` replaces the service's own package name, to select another version of the service. Responses larger than `maxReceiveBytes`
 * fail with `resource_exhausted`. Throws `invalid_argument` for a socket path that is too long.
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
