import type { Pod, PodSourceName } from '@podwright/kube-api';

/** The desired pods, as reported by their sources. */
export class PodManager {
  readonly #pods = new Map<string, { pod: Pod; source: PodSourceName }>();

  set(pod: Pod, source: PodSourceName): void {
    this.#pods.set(pod.metadata.uid, { pod, source });
  }

  get(podUid: string): { pod: Pod; source: PodSourceName } | undefined {
    return this.#pods.get(podUid);
  }

  delete(podUid: string): void {
    this.#pods.delete(podUid);
  }

  has(podUid: string): boolean {
    return this.#pods.has(podUid);
  }

  list(): Pod[] {
    return [...this.#pods.values()].map(({ pod }) => pod);
  }
}
