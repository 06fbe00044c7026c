import { BAD_PODS, FIELD_PODS } from './field-pods.ts';
import { LIFE_PODS, RESIZED_PODS } from './life-pods.ts';
import { type Later, manifest, type Parts } from './manifest-parts.ts';
import { PODS } from './pods.ts';

/** Content of a pod's manifest file, and later versions of the content; '' removes the file. */
export type Script = { text: string; later: { seconds: number; text: string }[] };

/** Manifests by group and pod name. A node has room for one group at a time. */
export const GROUPS: Record<string, Record<string, Script>> = {
  pods: scripts(PODS),
  fields: scripts({ ...FIELD_PODS, ...BAD_PODS }),
  lives: scripts(LIFE_PODS),
  resizes: scripts(RESIZED_PODS),
};

function scripts(pods: Record<string, Parts & { later?: Later[] }>): Record<string, Script> {
  return Object.fromEntries(
    Object.entries(pods).map(([name, { later = [], ...parts }], index) => {
      const textOf = (given?: Parts) => (given === undefined ? '' : manifest(name, index, given));
      const steps = later.map((one) => ({ seconds: one.seconds, text: textOf(one.parts) }));
      return [name, { text: textOf(parts), later: steps }];
    }),
  );
}
