/** Runs credential provider plugins and caches their responses. */
import { errorMessage, type Logger, type Registry } from '@podwright/base';
import type { ImageReference } from '@podwright/kube-api';
import { askPlugin, type CacheKeyType, type PluginAnswer } from './credential-plugin.ts';
import { type CredentialProvider, readCredentialProviderConfig } from './credential-provider-config.ts';
import { type ProviderMetrics, providerMetrics } from './image-metrics.ts';
import { entriesFor, type KeyringEntry, matchesImage, registryPattern } from './keyring.ts';
import { MAX_CACHED_CREDENTIALS } from './limits.ts';

export type CredentialProvidersOptions = {
  /** A CredentialProviderConfig file, or a directory of such files. */
  config: string;
  /** Directory with the plugin executables. */
  directory: string;
  logger: Logger;
  metrics?: Registry;
  now?: () => number;
};

type Cached = { entries: KeyringEntry[]; untilMs: number };

export class CredentialProviders {
  readonly #options: CredentialProvidersOptions;
  readonly #providers: CredentialProvider[];
  readonly #metrics: ProviderMetrics | undefined;
  /** Cached responses, oldest first, keyed by the provider's name and the response's scope. */
  readonly #cache = new Map<string, Cached>();
  readonly #running = new Map<string, Promise<KeyringEntry[]>>();

  /** Throws `invalid_argument` if the configuration is invalid or a provider's program is missing. */
  constructor(options: CredentialProvidersOptions) {
    this.#options = options;
    const { providers, hash } = readCredentialProviderConfig(options.config, options.directory);
    this.#providers = providers;
    this.#metrics = options.metrics && providerMetrics(options.metrics, hash);
  }

  /**
   * Returns the credentials from all providers that match the image, in configuration order. Providers that fail are logged and skipped.
   */
  async entriesFor(reference: ImageReference): Promise<KeyringEntry[]> {
    const matching = this.#providers.filter(({ matchImages }) =>
      matchImages.some((pattern) => matchesImage(registryPattern(pattern), reference)),
    );
    const answers = await Promise.all(matching.map((provider) => this.#askOne(provider, reference)));
    return answers.flatMap((entries) => entriesFor(reference, entries));
  }

  async #askOne(provider: CredentialProvider, reference: ImageReference): Promise<KeyringEntry[]> {
    const image = `${reference.registry}/${reference.repository}`;
    const cached = this.#cached(provider, reference);
    if (cached !== undefined) return cached;
    const key = `${provider.name} ${image}`;
    const running = this.#running.get(key) ?? this.#ask(provider, reference).finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    try {
      return await running;
    } catch (error) {
      const { logger } = this.#options;
      logger.error({ provider: provider.name, image, error: errorMessage(error) }, 'the credential provider failed');
      return [];
    }
  }

  async #ask(provider: CredentialProvider, reference: ImageReference): Promise<KeyringEntry[]> {
    const startedAtMs = performance.now();
    const image = `${reference.registry}/${reference.repository}`;
    let failed = true;
    try {
      const answer = await askPlugin(provider, { directory: this.#options.directory, image });
      failed = false;
      this.#keep(provider, reference, answer);
      return answer.entries;
    } finally {
      this.#metrics?.ran(provider.name, (performance.now() - startedAtMs) / 1000, failed);
    }
  }

  #keep(
    provider: CredentialProvider,
    reference: ImageReference,
    { cacheKeyType, cacheMs, entries }: PluginAnswer,
  ): void {
    const lifetimeMs = cacheMs ?? provider.defaultCacheDuration;
    if (lifetimeMs <= 0) return;
    const key = cacheKey(provider, cacheKeyType, reference);
    this.#cache.delete(key);
    this.#cache.set(key, { entries, untilMs: this.#now() + lifetimeMs });
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED_CREDENTIALS) this.#cache.delete(oldest!);
  }

  #cached(provider: CredentialProvider, reference: ImageReference): KeyringEntry[] | undefined {
    for (const type of ['Image', 'Registry', 'Global'] as const) {
      const key = cacheKey(provider, type, reference);
      const cached = this.#cache.get(key);
      if (cached !== undefined && cached.untilMs >= this.#now()) return cached.entries;
      this.#cache.delete(key);
    }
    return undefined;
  }

  #now(): number {
    return this.#options.now?.() ?? performance.now();
  }
}

function cacheKey({ name }: CredentialProvider, type: CacheKeyType, { registry, repository }: ImageReference): string {
  const what = { Image: `${registry}/${repository}`, Registry: registry, Global: '' };
  return `${name} ${type} ${what[type]}`;
}
