import type { Describe } from './type-schema.ts';

export type DocumentInfo = {
  /** The version in the document's `info` section. */
  version: string;
  describe: Describe;
};
