import type { Admission, Reinvocation } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { AdmissionPlugin, ObjectAttributes } from './admission-plugin.ts';

/**
 * Combines plugins into a chain that calls them in order and stops at the first rejection. If a webhook or policy changes the object, the
 * `mutate` of every plugin is called a second time (`Reinvocation`).
 */
export function admissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  const pass = async (attributes: ObjectAttributes): Promise<ApiObject> => {
    let { object } = attributes;
    for (const plugin of plugins) {
      const mutated = plugin.mutate?.({ ...attributes, object });
      object = (isPromise(mutated) ? await mutated : mutated) ?? object;
    }
    return object;
  };
  return {
    async mutate(attributes) {
      const { object } = attributes;
      if (object === undefined) {
        for (const plugin of plugins) await plugin.admitWithoutObject?.(attributes);
        return undefined;
      }
      const reinvocation: Reinvocation = { isSecond: false, isRequested: false, memory: new Map() };
      const mutated = await pass({ ...attributes, object, reinvocation });
      if (!reinvocation.isRequested) return mutated;
      reinvocation.isSecond = true;
      return pass({ ...attributes, object: mutated, reinvocation });
    },
    async validate(attributes) {
      for (const plugin of plugins) {
        const validated = plugin.validate?.(attributes);
        if (isPromise(validated)) await validated;
      }
    },
  };
}

/**
 * Whether a plugin's result must be awaited. Most plugins return synchronously, and not awaiting their results saves dozens of microtask
 * turns per write.
 */
const isPromise = <T>(result: T | Promise<T>): result is Promise<T> => result instanceof Promise;
