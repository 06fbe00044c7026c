import type { Engine } from '../engine/engine.ts';
import type { EngineInfo, EngineVersion } from '../engine/engine-types.ts';
import { FACTS_KEPT_MS } from '../limits.ts';

/** What the Engine says about itself, asked at most once a minute; `look` asks anew. Errors are those of `Engine`. */
export class EngineFacts {
  readonly #engine: Engine;
  #version: Kept<EngineVersion> | undefined;
  #info: Kept<EngineInfo> | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The version as it was within the last minute; of an Engine that is away, as it was last. */
  async version(signal?: AbortSignal): Promise<EngineVersion> {
    const known = fresh(this.#version);
    if (known !== undefined) return known;
    return await this.look(signal).catch((error: unknown) => {
      if (this.#version === undefined) throw error;
      return this.#version.value;
    });
  }

  /** Asks for the version, whatever is known of it: an Engine that answers is there. */
  async look(signal?: AbortSignal): Promise<EngineVersion> {
    const value = await this.#engine.version(signal);
    if (this.#version?.value.Version !== value.Version) this.#info = undefined; // another Engine by now
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

  /** What was heard last, however long ago. */
  get lastInfo(): EngineInfo | undefined {
    return this.#info?.value;
  }
}

type Kept<T> = { value: T; atMs: number };

function fresh<T>(kept: Kept<T> | undefined): T | undefined {
  return kept !== undefined && performance.now() - kept.atMs < FACTS_KEPT_MS ? kept.value : undefined;
}
