import { type ErrorCode, errorMessage, PodwrightError } from '@podwright/base';
import { EngineError, FULL_DISK } from '../engine/engine-error.ts';
import { PullRefusal } from './pull-progress.ts';

/** Prefix by which kubelets recognize an unavailable registry (cri-api, pkg/errors). */
const REGISTRY_UNAVAILABLE = 'RegistryUnavailable';

/** Error codes by message text. The Engine reports most registry errors as its own, without the registry's status code. */
const WORDS: [ErrorCode, RegExp][] = [
  ['resource_exhausted', FULL_DISK],
  [
    'not_found',
    /manifest unknown|manifest for .* not found|repository name not known|name unknown|no matching manifest/i,
  ],
  ['unauthenticated', /unauthorized|authentication required|no basic auth credentials|incorrect username or password/i],
  ['permission_denied', /\bdenied\b|forbidden/i],
  [
    'unavailable',
    /connection refused|no such host|no route to host|network is unreachable|i\/o timeout|TLS handshake timeout|Client\.Timeout|bad gateway|service unavailable|gateway timeout/i,
  ],
];

/** Status codes of an unavailable registry. They often come from a proxy that sends HTML instead of a message. */
const UNAVAILABLE_STATUSES = [502, 503, 504];

/** Classifies a pull error by its message. Other errors are returned unchanged. */
export function pullError(reference: string, error: unknown): unknown {
  if (!(error instanceof PullRefusal) && !isOfRegistry(error)) return error;
  const said = errorMessage(error).replace(/^pull image [^ ]+: /, '');
  const isDown = error instanceof PullRefusal && UNAVAILABLE_STATUSES.includes(error.statusCode ?? 0);
  const code = isDown ? 'unavailable' : (WORDS.find(([, words]) => words.test(said))?.[0] ?? 'unknown');
  const message = `pull image ${reference}: ${said}`;
  return new PodwrightError(code, code === 'unavailable' ? `${REGISTRY_UNAVAILABLE}: ${message}` : message);
}

/**
 * Whether an error comes from the registry, judging by its status code: the Engine reports registry errors as 403, 404 or 500, and errors
 * in the call itself with other codes.
 */
function isOfRegistry(error: unknown): error is EngineError {
  return error instanceof EngineError && [403, 404, 500].includes(error.statusCode);
}
