import { setTimeout as sleep } from 'node:timers/promises';

/** CPU time that each walk may use without being slowed down, so that short walks do not wait for long ones. */
const FREE_MS = 100;
const MAX_REST_MS = 1000;

export type PacedWalk = { rest(): Promise<void>; end(): void };

/** Slows down long walks, so that together they use at most a given share of a CPU core on average. They divide that share equally. */
export class WalkPace {
  readonly #cpuShare: number;
  readonly #long = new Set<PacedWalk>();
  readonly #burstMs: number;
  #leftMs: number;
  #countedAtMs = performance.now();

  /** `burstMs` is the CPU time that long walks may use at full speed after a period without long walks. */
  constructor({ cpuShare, burstMs }: { cpuShare: number; burstMs: number }) {
    this.#cpuShare = cpuShare;
    this.#burstMs = burstMs;
    this.#leftMs = burstMs;
  }

  /** Begins a walk. The walk must call `rest` every few milliseconds and `end` when it is finished. */
  begin(): PacedWalk {
    let resumedAtMs = performance.now();
    let usedMs = 0;
    const walk = {
      rest: async () => {
        const sliceMs = performance.now() - resumedAtMs;
        usedMs += sliceMs;
        if (usedMs > FREE_MS) await this.#rest(walk, sliceMs);
        resumedAtMs = performance.now();
      },
      end: () => void this.#long.delete(walk),
    };
    return walk;
  }

  async #rest(walk: PacedWalk, sliceMs: number): Promise<void> {
    this.#long.add(walk);
    const nowMs = performance.now();
    this.#leftMs = Math.min(this.#burstMs, this.#leftMs + (nowMs - this.#countedAtMs) * this.#cpuShare) - sliceMs;
    this.#countedAtMs = nowMs;
    if (this.#leftMs >= 0) return;
    const restMs = Math.min(MAX_REST_MS, (sliceMs * this.#long.size) / this.#cpuShare);
    await sleep(restMs, undefined, { ref: false }); // a walk does not keep the process alive
  }
}
