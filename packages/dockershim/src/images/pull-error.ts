import { type ErrorCode, errorMessage, PodwrightError } from '@podwright/base';
import { EngineError, FULL_DISK } from '../engine/engine-error.ts';
import { PullRefusal } from './pull-progress.ts';

/** The prefix by which kubelets know that the registry is at fault, and not the image (cri-api, pkg/errors). */
const REGISTRY_UNAVAILABLE = 'RegistryUnavailable';

/** What registries and the Engine say, in words alone: the Engine passes most of it on as a failure of its own. */
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

/** Statuses of registries, or of what stands before them, which answer with pages for browsers. */
const UNAVAILABLE_STATUSES = [502, 503, 504];

/** The error of a pull, by what was said against it; other errors stay as they are. */
export function pullError(reference: string, error: unknown): unknown {
  if (!(error instanceof PullRefusal) && !isOfRegistry(error)) return error;
  const said = errorMessage(error).replace(/^pull image [^ ]+: /, '');
  const isDown = error instanceof PullRefusal && UNAVAILABLE_STATUSES.includes(error.statusCode ?? 0);
  const code = isDown ? 'unavailable' : (WORDS.find(([, words]) => words.test(said))?.[0] ?? 'unknown');
  const message = `pull image ${reference}: ${said}`;
  return new PodwrightError(code, code === 'unavailable' ? `${REGISTRY_UNAVAILABLE}: ${message}` : message);
}

/** The Engine answers with 404 and 500 for registries; everything else is about the call. */
function isOfRegistry(error: unknown): error is EngineError {
  return error instanceof EngineError && [403, 404, 500].includes(error.statusCode);
}
