import { type ExistingPod, namespacedName, type Pod } from '@podwright/kube-api';

/**
 * Decides which pod gets a name or UID claimed by several manifests: the pod that already has it, regardless of its file name. A name gives
 * access to addresses and logs, and a UID to volumes and containers, so neither may pass to another pod that merely claims it.
 */
export class PodClaims {
  readonly #byUid = new Map<string, ExistingPod>();
  readonly #filesOf = new Map<string, Set<string>>();

  /**
   * `desired`: the pods from the manifests so far. `running`: the pods in the container runtime, which are the only record after a restart.
   */
  constructor(desired: readonly ExistingPod[], running: readonly ExistingPod[]) {
    for (const pod of [...running, ...desired]) this.#byUid.set(pod.uid, pod);
    const named = new Set(desired.map(podKey));
    for (const pod of [...desired, ...running.filter((one) => !named.has(podKey(one)))]) {
      this.#filesOf.set(podKey(pod), (this.#filesOf.get(podKey(pod)) ?? new Set()).add(pod.file));
    }
  }

  /**
   * Ranks a claim; the lowest rank wins. 0: the existing pod. 1: another pod with that name from the same file, as after editing the
   * manifest. 2: a pod with the same name and UID from another file, as after renaming the file. 3: any other pod.
   */
  rank(pod: Pod, file: string): number {
    const holder = this.#byUid.get(pod.metadata.uid);
    const same = holder !== undefined && podKey(holder) === namespacedName(pod);
    if (same && holder.file === file) return 0;
    if (this.#filesOf.get(namespacedName(pod))?.has(file)) return 1;
    return same ? 2 : 3;
  }

  /** Returns the existing pod with this pod's UID, if it has a different name. */
  holderOfUid({ metadata }: Pod): ExistingPod | undefined {
    const holder = this.#byUid.get(metadata.uid);
    return holder?.namespace === metadata.namespace && holder.name === metadata.name ? undefined : holder;
  }
}

function podKey({ namespace, name }: ExistingPod): string {
  return `${namespace}/${name}`;
}
