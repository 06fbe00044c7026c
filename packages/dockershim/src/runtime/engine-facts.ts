import type { Engine } from '../engine/engine.ts';
import type { EngineInfo, EngineVersion } from '../engine/engine-types.ts';
import { FACTS_CACHE_MS } from '../limits.ts';

/** Provides the Engine's version and info, cached for a minute. Throws the errors of `Engine`. */
export class EngineFacts {
  readonly #engine: Engine;
  #version: Cached<EngineVersion> | undefined;
  #info: Cached<EngineInfo> | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Returns the version, at most a minute old; if the Engine is unreachable, the last one it reported. */
  async version(signal?: AbortSignal): Promise<EngineVersion> {
    const known = fresh(this.#version);
    if (known !== undefined) return known;
    return await this.read(signal).catch((error: unknown) => {
      if (this.#version === undefined) throw error;
      return this.#version.value;
    });
  }

  /** Requests the version, bypassing the cache, which proves that the Engine responds. */
  async read(signal?: AbortSignal): Promise<EngineVersion> {
    const value = await this.#engine.version(signal);
    if (this.#version?.value.Version !== value.Version) this.#info = undefined; // the Engine was replaced by another version
    this.#version = { value, atMs: performance.now() };
    return value;
  }

  async info(signal?: AbortSignal): Promise<EngineInfo> {
    const known = fresh(this.#info);
    if (known !== undefined) return known;
    const value = await this.#engine.info(signal);
    this.#info = { value, atMs: performance.now() };
    return value;
  }

  /** Returns the last info reported by the Engine, no matter how old. */
  get lastInfo(): EngineInfo | undefined {
    return this.#info?.value;
  }
}

type Cached<T> = { value: T; atMs: number };

function fresh<T>(cached: Cached<T> | undefined): T | undefined {
  return cached !== undefined && performance.now() - cached.atMs < FACTS_CACHE_MS ? cached.value : undefined;
}
