import { normalize } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { MAX_SOCKET_PATH_BYTES } from '@podwright/host';

/** The address that a server listens on. */
export type Endpoint = { kind: 'unix'; path: string } | { kind: 'tcp'; host: string; port: number };

/**
 * Parses an endpoint in one of the formats accepted by the kubelet's flags: `unix:///path`, a bare absolute path, or `tcp://host:port`.
 * Throws `invalid_argument`, with a message that lists the accepted formats.
 */
export function parseEndpoint(endpoint: string): Endpoint {
  if (endpoint.startsWith('/')) return unixEndpoint(endpoint, endpoint);
  if (endpoint.startsWith('unix:')) return unixEndpoint(endpoint, endpoint.slice('unix:'.length).replace(/^\/\//, ''));
  if (endpoint.startsWith('tcp://')) return tcpEndpoint(endpoint);
  if (endpoint.startsWith('npipe:')) {
    throw invalid(endpoint, 'named pipes exist on Windows only; on Linux a server listens on a unix socket');
  }
  throw invalid(endpoint, 'expected unix:///path/to/socket, an absolute path, or tcp://host:port');
}

/** Formats the endpoint as a URL, for messages. */
export function formatEndpoint(endpoint: Endpoint): string {
  if (endpoint.kind === 'unix') return `unix://${endpoint.path}`;
  return `tcp://${endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host}:${endpoint.port}`;
}

function unixEndpoint(endpoint: string, path: string): Endpoint {
  if (!path.startsWith('/')) throw invalid(endpoint, 'the path of the socket must be absolute, as in unix:///path');
  const length = Buffer.byteLength(path);
  if (length > MAX_SOCKET_PATH_BYTES) {
    throw invalid(
      endpoint,
      `the path has ${length} bytes; Linux allows ${MAX_SOCKET_PATH_BYTES} for a socket: choose a shorter one`,
    );
  }
  return { kind: 'unix', path: normalize(path) };
}

function tcpEndpoint(endpoint: string): Endpoint {
  const match = /^tcp:\/\/(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/.exec(endpoint);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || port < 1 || port > 65_535) throw invalid(endpoint, 'expected tcp://host:port');
  return { kind: 'tcp', host, port };
}

function invalid(endpoint: string, why: string): PodwrightError {
  return new PodwrightError('invalid_argument', `endpoint ${JSON.stringify(endpoint)}: ${why}`);
}
