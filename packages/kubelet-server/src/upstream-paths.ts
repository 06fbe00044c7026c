/**
 * Upstream's redirects and 404s, as they result from pkg/kubelet/server's combination of net/http's ServeMux and go-restful.
 */

/** Paths that exist only with a trailing slash: always, if debugging handlers are enabled, and if they are disabled. */
const BELOW_SLASH = {
  always: ['/stats'],
  debug: ['/checkpoint', '/debug/pprof', '/logs', '/runningpods'],
  disabled: ['/attach', '/containerLogs', '/debug/pprof', '/exec', '/logs', '/portForward', '/run', '/runningpods'],
};

/** Roots of the web services of go-restful, which words its 404 differently than net/http. */
const RESTFUL = {
  always: ['/pods', '/stats'],
  debug: [...BELOW_SLASH.debug, '/attach', '/containerLogs', '/exec', '/portForward', '/run'],
};

/** Returns the redirect for a path that lacks its trailing slash; `undefined` for all other paths. Pure. */
export function withSlash(path: string, hasDebug: boolean): string | undefined {
  const paths = [...BELOW_SLASH.always, ...(hasDebug ? BELOW_SLASH.debug : BELOW_SLASH.disabled)];
  return paths.includes(path) ? `${path}/` : undefined;
}

/** Returns the body of the 404 response for an unknown path. Pure. */
export function notFoundWords(path: string, hasDebug: boolean): string {
  const roots = [...RESTFUL.always, ...(hasDebug ? RESTFUL.debug : [])];
  return roots.some((root) => path === root || path.startsWith(`${root}/`))
    ? '404: Page Not Found'
    : '404 page not found\n';
}
