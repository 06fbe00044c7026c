import type { CriClient } from '@podwright/cri';

/** Features of a runtime handler. */
export type HandlerFeatures = { recursiveReadOnlyMounts: boolean; userNamespaces: boolean };

/** Reads features from the container runtime's status. Not cached, because few pods depend on it. */
export class RuntimeFeatures {
  readonly #cri: CriClient;

  constructor(cri: CriClient) {
    this.#cri = cri;
  }

  /**
   * Returns a runtime handler's features; `none` if the container runtime reports no handlers at all, `unknown` if it does not report this
   * one.
   */
  async ofHandler(name: string, signal?: AbortSignal): Promise<HandlerFeatures | 'none' | 'unknown'> {
    const { runtimeHandlers } = await this.#cri.runtime.status({}, { signal });
    if (runtimeHandlers.length === 0) return 'none';
    const handler = runtimeHandlers.find((one) => one.name === name);
    if (handler === undefined) return 'unknown';
    const { recursiveReadOnlyMounts = false, userNamespaces = false } = handler.features ?? {};
    return { recursiveReadOnlyMounts, userNamespaces };
  }

  /** Whether the container runtime supports `supplementalGroupsPolicy: Strict`. */
  async strictGroups(signal?: AbortSignal): Promise<boolean> {
    const { features } = await this.#cri.runtime.status({}, { signal });
    return features?.supplementalGroupsPolicy === true;
  }
}
