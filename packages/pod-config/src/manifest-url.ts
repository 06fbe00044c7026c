import {
  background,
  errorMessage,
  getDocument,
  type Logger,
  PodwrightError,
  pause,
  withTimeout,
} from '@podwright/base';
import { MAX_MANIFEST_BYTES, ManifestError } from '@podwright/kube-api';
import { decodeBytes } from './manifest-file.ts';
import type { SourceSnapshot } from './pod-config.ts';
import type { SavedManifests } from './saved-manifests.ts';

const MANIFEST_URL_TIMEOUT_MS = 10_000;

export type ManifestUrlOptions = {
  url: string;
  /**
   * Headers sent with each request (KubeletConfiguration `staticPodURLHeader`). If there are any, redirects are treated as errors, so that
   * the headers are not leaked.
   */
  headers: Record<string, string[]>;
  logger: Logger;
  /** Interval between requests (KubeletConfiguration `httpCheckFrequency`, 20 s). */
  periodMs: number;
  /** Stores the last valid content of the URL across restarts. If unset, nothing is reported before the first successful read. */
  saved?: SavedManifests;
  /**
   * Called with the full content. The first call follows the first successful read or, if there is saved content, the first read even if it
   * failed; after that, it is called after each change.
   */
  onChange: (snapshot: SourceSnapshot) => void;
};

/**
 * Provides the pods from a manifest URL. While the URL cannot be fetched or its content has errors, the last valid content stays in effect,
 * even across a restart. Without saved content, nothing is reported until the URL has been read once; otherwise running pods from it would
 * look deleted.
 */
export class ManifestUrl {
  readonly #options: ManifestUrlOptions;
  #last: { content: string; errors: string } | undefined;
  #good: Pick<SourceSnapshot, 'objects' | 'warnings'> = { objects: [], warnings: [] };
  /** Whether the URL has been read by this kubelet, or by the previous one, which saved the content. */
  #hasBeenRead = false;

  constructor(options: ManifestUrlOptions) {
    this.#options = options;
  }

  /** Fetches and reports once, then polls until the signal aborts. */
  async start(signal: AbortSignal): Promise<void> {
    await this.#recall();
    await this.#poll(signal);
    background(this.#options.logger, 'the manifest URL is no longer read', this.#repeat(signal));
  }

  async #recall(): Promise<void> {
    const { saved, url } = this.#options;
    for (const [source, objects] of (await saved?.read()) ?? []) {
      if (source !== url) await saved?.remove(source);
      else [this.#good, this.#hasBeenRead] = [{ objects, warnings: [] }, true];
    }
  }

  async #repeat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.#options.periodMs, signal);
      if (!signal.aborted) await this.#poll(signal);
    }
  }

  async #poll(signal: AbortSignal): Promise<void> {
    try {
      const bytes = await this.#get(signal);
      const content = Buffer.from(bytes).toString('base64');
      if (content === this.#last?.content && this.#last.errors === '') return;
      const { objects, errors, leftOut, warnings } = decodeBytes(bytes, this.#options.url);
      if (errors.length === 0) this.#good = { objects, warnings: [...leftOut, ...warnings] };
      this.#publish(content, errors);
      if (errors.length === 0) await this.#options.saved?.save(this.#options.url, objects);
    } catch (error) {
      if (signal.aborted) return;
      const place = { file: this.#options.url, line: 1, column: 1 };
      this.#publish(this.#last?.content ?? '', [new ManifestError(place, `get the manifest: ${errorMessage(error)}`)]);
    }
  }

  #publish(content: string, errors: ManifestError[]): void {
    const next = { content, errors: errors.join('\n') };
    if (next.content === this.#last?.content && next.errors === this.#last.errors) return;
    this.#last = next;
    this.#hasBeenRead ||= errors.length === 0;
    const { url, logger } = this.#options;
    if (!this.#hasBeenRead) return logger.warn({ url, error: next.errors }, 'the manifest URL could not be read yet');
    this.#options.onChange({ ...this.#good, errors });
  }

  async #get(signal: AbortSignal): Promise<Uint8Array> {
    const { url, headers } = this.#options;
    using limited = withTimeout(signal, MANIFEST_URL_TIMEOUT_MS, `GET ${url}`);
    const refusal = () => new PodwrightError('resource_exhausted', `GET ${url}: larger than 4 MiB`);
    const checkRedirect = () => {
      if (Object.keys(headers).length > 0) throw new PodwrightError('unavailable', `GET ${url}: redirected elsewhere`);
    };
    const options = { fields: headers, maxBytes: MAX_MANIFEST_BYTES, refusal, checkRedirect, signal: limited };
    const { status, body } = await getDocument(new URL(url), options);
    if (status >= 200 && status < 300) return body;
    throw new PodwrightError('unavailable', `GET ${url}: status ${status}`);
  }
}
