/** Upstream's redirects and 404s, which come from net/http's ServeMux and go-restful as pkg/kubelet/server combines them. */

/** Paths that are registered with a trailing slash only: always, with debugging handlers, and without them. */
const BELOW_SLASH = {
  always: ['/stats'],
  debug: ['/checkpoint', '/debug/pprof', '/logs', '/runningpods'],
  disabled: ['/attach', '/containerLogs', '/debug/pprof', '/exec', '/logs', '/portForward', '/run', '/runningpods'],
};

/** Roots of go-restful's web services, whose 404 differs from that of net/http. */
const RESTFUL = {
  always: ['/pods', '/stats'],
  debug: [...BELOW_SLASH.debug, '/attach', '/containerLogs', '/exec', '/portForward', '/run'],
};

/** The redirect for a path without its trailing slash; `undefined` for all other paths. Pure. */
export function withSlash(path: string, hasDebug: boolean): string | undefined {
  const paths = [...BELOW_SLASH.always, ...(hasDebug ? BELOW_SLASH.debug : BELOW_SLASH.disabled)];
  return paths.includes(path) ? `${path}/` : undefined;
}

/** The body of the 404 for an unknown path. Pure. */
export function notFoundWords(path: string, hasDebug: boolean): string {
  const roots = [...RESTFUL.always, ...(hasDebug ? RESTFUL.debug : [])];
  return roots.some((root) => path === root || path.startsWith(`${root}/`))
    ? '404: Page Not Found'
    : '404 page not found\n';
}
