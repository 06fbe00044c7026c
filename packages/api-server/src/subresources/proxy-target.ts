import { ApiError, badRequest } from '@podwright/api-machinery';

/** The target named in a proxy request: `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`. Absent parts are ''. */
export type ProxyTarget = {
  /** The whole target, as in the URL. */
  id: string;
  scheme: '' | 'http' | 'https';
  name: string;
  /** The number or name of the port to connect to; '' if absent. */
  port: string;
};

/** Parses the name in a proxy request. `kind`: e.g. `pod`. Throws 400 if the name is malformed. */
export function proxyTarget(kind: string, id: string): ProxyTarget {
  const parts = id.split(':');
  const [scheme = '', name = '', port = ''] = parts.length > 2 ? parts : ['', ...parts];
  const isScheme = scheme === '' || scheme === 'http' || scheme === 'https';
  if (parts.length > 3 || name === '' || !isScheme) throw badRequest(`invalid ${kind} request ${JSON.stringify(id)}`);
  return { id, scheme, name, port };
}

/** Returns the port to connect to. Throws 503 if it is neither absent nor a valid number, as upstream does when it fails to connect. */
export function portNumber({ scheme, port }: Pick<ProxyTarget, 'scheme' | 'port'>): number {
  if (port === '') return scheme === 'https' ? 443 : 80;
  const number = Number(port);
  if (!/^\d{1,10}$/.test(port)) throw unreachable(`dial tcp: lookup tcp/${port}: unknown port`);
  if (number < 1 || number > 65_535) throw unreachable(`dial tcp: address ${port}: invalid port`);
  return number;
}

export const serviceUnavailable = (message: string): ApiError => new ApiError(503, 'ServiceUnavailable', { message });

const unreachable = (reason: string) => serviceUnavailable(`error trying to reach service: ${reason}`);
