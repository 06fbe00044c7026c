import type { ApiObject } from '../api-object.ts';

const SUFFIX = '.static.k8s.io';

/** Warns about names reserved for static, manifest-based configuration. */
export const staticNameWarnings = ({ metadata: { name = '' } }: ApiObject): string[] =>
  name.endsWith(SUFFIX)
    ? [
        `metadata.name: names ending with "${SUFFIX}" are reserved for static manifest-based configurations and cannot be managed via the API`,
      ]
    : [];
