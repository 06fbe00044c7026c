import type { CriClient } from '@podwright/cri';

/** What a runtime can do with the pods of one handler. */
export type HandlerFeatures = { recursiveReadOnlyMounts: boolean; userNamespaces: boolean };

/** What of these a runtime says in its status; it is asked each time, as only few pods depend on it. */
export class RuntimeFeatures {
  readonly #cri: CriClient;

  constructor(cri: CriClient) {
    this.#cri = cri;
  }

  /** `none` from a runtime that tells nothing of handlers, `unknown` for one that it does not name. */
  async ofHandler(name: string, signal?: AbortSignal): Promise<HandlerFeatures | 'none' | 'unknown'> {
    const { runtimeHandlers } = await this.#cri.runtime.status({}, { signal });
    if (runtimeHandlers.length === 0) return 'none';
    const handler = runtimeHandlers.find((one) => one.name === name);
    if (handler === undefined) return 'unknown';
    const { recursiveReadOnlyMounts = false, userNamespaces = false } = handler.features ?? {};
    return { recursiveReadOnlyMounts, userNamespaces };
  }

  /** Whether containers can be kept from groups that their image gives them. */
  async strictGroups(signal?: AbortSignal): Promise<boolean> {
    const { features } = await this.#cri.runtime.status({}, { signal });
    return features?.supplementalGroupsPolicy === true;
  }
}
