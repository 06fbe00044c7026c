import type { ObjectMeta } from './object-meta.ts';

/** v1 Service, with the fields used to build service environment variables. */
export type Service = {
  metadata: ObjectMeta;
  spec: {
    /** No cluster IP if '' or `None`. */
    clusterIP?: string;
    ports?: { name?: string; port: number; protocol?: string }[];
  };
};
