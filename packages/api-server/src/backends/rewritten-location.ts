import type { Backend } from './backend.ts';

type Seen = {
  backend: Pick<Backend, 'scheme' | 'authority'>;
  /** The `Host` header that the backend received. */
  host: string;
  prefix: string;
};

/** Returns the `Location` of a backend's redirect as the client must see it: paths of the backend are below the prefix. */
export function rewrittenLocation(location: string, { backend, host, prefix }: Seen): string {
  const [, authority, rest = ''] = /^(?:https?:)?\/\/([^/?#]*)(.*)$/is.exec(location) ?? [
    undefined,
    undefined,
    location,
  ];
  if (authority !== undefined && ![backend.authority, host].includes(authority)) return location;
  const path = authority !== undefined && !rest.startsWith('/') ? `/${rest}` : rest;
  return path.startsWith('/') && !path.startsWith(`${prefix}/`) ? prefix + path : path;
}
