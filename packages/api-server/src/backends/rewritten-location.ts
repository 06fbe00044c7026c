import type { Backend } from './backend.ts';

type Seen = {
  backend: Pick<Backend, 'scheme' | 'authority'>;
  /** The `Host` header of the request to the backend, which redirects may refer to. */
  host: string;
  prefix: string;
};

/** Rewrites a backend redirect's `Location` for the client: backend paths are moved under the prefix. */
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
