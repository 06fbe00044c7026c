/** How upstream answers for paths that it does not serve as they are (net/http and go-restful, as pkg/kubelet/server puts them together). */

/** What is served below a slash alone, always, with debugging handlers, and without. */
const BELOW_SLASH = {
  always: ['/stats'],
  debug: ['/checkpoint', '/debug/pprof', '/logs', '/runningpods'],
  disabled: ['/attach', '/containerLogs', '/debug/pprof', '/exec', '/logs', '/portForward', '/run', '/runningpods'],
};

/** Where go-restful looks for what is asked for, and has words of its own for what is not there. */
const RESTFUL = {
  always: ['/pods', '/stats'],
  debug: [...BELOW_SLASH.debug, '/attach', '/containerLogs', '/exec', '/portForward', '/run'],
};

/** Where a caller is sent to who left out the slash; `undefined` for all others. Pure. */
export function withSlash(path: string, hasDebug: boolean): string | undefined {
  const paths = [...BELOW_SLASH.always, ...(hasDebug ? BELOW_SLASH.debug : BELOW_SLASH.disabled)];
  return paths.includes(path) ? `${path}/` : undefined;
}

/** What is said of a path that there is not. Pure. */
export function notFoundWords(path: string, hasDebug: boolean): string {
  const roots = [...RESTFUL.always, ...(hasDebug ? RESTFUL.debug : [])];
  return roots.some((root) => path === root || path.startsWith(`${root}/`))
    ? '404: Page Not Found'
    : '404 page not found\n';
}
