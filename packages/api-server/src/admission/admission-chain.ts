import type { Admission } from '@podwright/api-machinery';
import type { AdmissionPlugin } from './admission-plugin.ts';

/** Combines plugins into a chain that calls them in order and stops at the first one that rejects the write. */
export function admissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  return {
    async mutate(attributes) {
      let { object } = attributes;
      if (object === undefined) return undefined;
      for (const plugin of plugins) object = (await plugin.mutate?.({ ...attributes, object })) ?? object;
      return object;
    },
    async validate(attributes) {
      for (const plugin of plugins) await plugin.validate?.(attributes);
    },
  };
}
