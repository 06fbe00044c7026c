import { formatEndpoint, parseEndpoint } from '../endpoint.ts';
import type { TypedService } from '../service-definition.ts';
import { Connection } from './connection.ts';
import type { CallObserver } from './observer.ts';
import { createServiceClient, type ServiceClient } from './service-client.ts';

/** A client of one service, and what ends its connection: running calls then fail as cancelled. */
export type ConnectedService<S extends TypedService> = ServiceClient<S> & { close(): void };

export type ConnectServiceOptions = {
  maxReceiveBytes: number;
  packageName?: string;
  /** Hears of each call. */
  observer?: CallObserver;
};

const NOBODY: CallObserver = { started: () => () => undefined };

/**
 * A client of a service that a plugin serves on a unix socket. It connects at the first call, and again whenever the connection is
 * lost. `packageName` takes the place of the service's own, for another version of it. Answers of more than `maxReceiveBytes` fail with `resource_exhausted`. Throws `invalid_argument` for a path that is too long.
 */
export function connectService<S extends TypedService>(
  service: S,
  socketPath: string,
  { maxReceiveBytes, packageName, observer = NOBODY }: ConnectServiceOptions,
): ConnectedService<S> {
  const endpoint = parseEndpoint(formatEndpoint({ kind: 'unix', path: socketPath }));
  const connection = new Connection(endpoint, { observer, maxReceiveBytes });
  return { ...createServiceClient(service, connection, { packageName }), close: () => connection.close() };
}
