import type { ObjectMeta } from './object-meta.ts';

/** v1 Service, as far as containers are told of it. */
export type Service = {
  metadata: ObjectMeta;
  spec: {
    /** `None` and '' for one without an address. */
    clusterIP?: string;
    ports?: { name?: string; port: number; protocol?: string }[];
  };
};
