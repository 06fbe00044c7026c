import type { ObjectMeta } from './object-meta.ts';

/** v1 Service, with the fields from which service environment variables are built. */
export type Service = {
  metadata: ObjectMeta;
  spec: {
    /** `None` and '' mean no cluster IP. */
    clusterIP?: string;
    ports?: { name?: string; port: number; protocol?: string }[];
  };
};
