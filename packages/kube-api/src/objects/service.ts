import type { ObjectMeta } from './object-meta.ts';

/** v1 Service, as far as service variables need it. */
export type Service = {
  metadata: ObjectMeta;
  spec: {
    /** `None` and '' mean no cluster IP. */
    clusterIP?: string;
    ports?: { name?: string; port: number; protocol?: string }[];
  };
};
