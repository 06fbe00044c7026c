import { isWrittenNow } from './atomic-writer.ts';

/** How long to skip comparing a volume's files with its content. A pod is synced several times within a second of starting. */
export const RECENT_MS = 5000;

type Recent = { content: string; untilMs: number };

/** Volumes that were written or checked recently. */
export class RecentVolumes {
  readonly #volumes = new Map<string, Recent>();

  /** Whether the directory still exists and recently had this content. */
  has(directory: string, content: string): boolean {
    const known = this.#volumes.get(directory);
    return known?.content === content && performance.now() < known.untilMs && isWrittenNow(directory);
  }

  add(directory: string, content: string): void {
    const nowMs = performance.now();
    for (const [one, { untilMs }] of this.#volumes) {
      if (untilMs > nowMs) break; // the oldest are first
      this.#volumes.delete(one);
    }
    this.#volumes.delete(directory);
    this.#volumes.set(directory, { content, untilMs: nowMs + RECENT_MS });
  }
}
