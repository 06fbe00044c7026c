import { PodwrightError, Timer, wrapError } from '@podwright/base';
import type { DockershimServices } from '../services.ts';
import { pullError } from './pull-error.ts';
import { PullRefusal, readProgress } from './pull-progress.ts';
import { formatReference, type ImageReference } from './reference.ts';
import { type RegistryCredentials, registryAuth } from './registry-auth.ts';

type Needs = Pick<DockershimServices, 'engine' | 'options'>;

/**
 * Pulls an image and returns its ID. `signal` cancels the pull. Throws `deadline_exceeded` if the pull makes no progress for too long,
 * `not_found`, `unauthenticated`, `permission_denied`, `unavailable` (for the registry or the Engine) or `unknown`.
 */
export async function pullImage(
  { engine, options }: Needs,
  { reference, credentials }: { reference: ImageReference; credentials?: RegistryCredentials },
  signal: AbortSignal,
): Promise<string> {
  const shown = formatReference(reference);
  const { name, version } = reference;
  const limitMs = options.pullProgressDeadlineMs;
  using stall = new StallTimer(limitMs, `pull image ${shown}: no progress within ${limitMs} ms`);
  const both = AbortSignal.any([signal, stall.signal]);
  try {
    const image = { name, version: 'tag' in version ? version.tag : version.digest, auth: registryAuth(credentials) };
    const progress = await engine.images.pull({ ...image, headTimeoutMs: limitMs }, both);
    await readProgress(progress, (isUnpacking) => stall.restart(isUnpacking));
  } catch (error) {
    if (both.aborted) throw both.reason;
    if (error instanceof PodwrightError || error instanceof PullRefusal) throw pullError(shown, error);
    throw wrapError(`pull image ${shown}: the connection to the Docker Engine was lost`, error, 'unavailable');
  }
  return (await engine.images.inspect(shown, signal)).Id;
}

/** A restartable timer whose signal aborts `limitMs` after the last restart. */
class StallTimer implements Disposable {
  readonly #controller = new AbortController();
  readonly #limitMs: number;
  readonly #message: string;
  #timer: Timer | undefined;

  constructor(limitMs: number, message: string) {
    this.#limitMs = limitMs;
    this.#message = message;
    this.restart(false);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Restarts the timer. If `isOff`, stops it until the next call instead. */
  restart(isOff: boolean): void {
    this.#timer?.[Symbol.dispose]();
    if (isOff) return;
    const stalled = () => this.#controller.abort(new PodwrightError('deadline_exceeded', this.#message));
    this.#timer = new Timer(stalled, this.#limitMs);
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }
}
