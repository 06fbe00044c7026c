/** Upstream's redirects and 404 responses, which result from how pkg/kubelet/server combines net/http's ServeMux with go-restful. */

/**
 * Paths that exist only with a trailing slash: always, only if the debugging handlers are enabled (`debug`), or only if they are disabled.
 */
const BELOW_SLASH = {
  always: ['/stats'],
  debug: ['/checkpoint', '/debug/pprof', '/logs', '/runningpods'],
  disabled: ['/attach', '/containerLogs', '/debug/pprof', '/exec', '/logs', '/portForward', '/run', '/runningpods'],
};

/** Root paths of the go-restful web services. go-restful words its 404 response differently from net/http. */
const RESTFUL = {
  always: ['/pods', '/stats'],
  debug: [...BELOW_SLASH.debug, '/attach', '/containerLogs', '/exec', '/portForward', '/run'],
};

/** Returns the redirect target for a path that lacks its trailing slash, or `undefined` for all other paths. Pure. */
export function withSlash(path: string, hasDebug: boolean): string | undefined {
  const paths = [...BELOW_SLASH.always, ...(hasDebug ? BELOW_SLASH.debug : BELOW_SLASH.disabled)];
  return paths.includes(path) ? `${path}/` : undefined;
}

/** Returns the body of upstream's 404 response for an unknown path. Pure. */
export function notFoundWords(path: string, hasDebug: boolean): string {
  const roots = [...RESTFUL.always, ...(hasDebug ? RESTFUL.debug : [])];
  return roots.some((root) => path === root || path.startsWith(`${root}/`))
    ? '404: Page Not Found'
    : '404 page not found\n';
}
