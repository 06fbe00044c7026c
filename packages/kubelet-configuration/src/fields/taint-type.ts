import { type Decoder, list } from '@podwright/kube-api';
import type { FieldType } from './field-types.ts';

/** A taint to register the node with (v1 Taint). */
export type GivenTaint = { key: string; value?: string; effect: string };

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const taint: Decoder<GivenTaint> = (value, issues) => {
  const { key, value: text, effect } = (value ?? {}) as Record<string, unknown>;
  const taintProblems =
    typeof key === 'string' &&
    key !== '' &&
    (text === undefined || typeof text === 'string') &&
    EFFECTS.includes(effect as string);
  if (!taintProblems) issues.add(`must be a taint with a key, a value or none, and an effect: ${EFFECTS.join(', ')}`);
  return { key, ...(text ? { value: text } : {}), effect } as GivenTaint;
};

/** A list of taints, written as `key=value:effect` or `key:effect` in a flag, separated by commas. */
export const taints: FieldType<GivenTaint[]> = {
  name: 'key=value:effect,…',
  decode: list(taint),
  fromFlag: (flag, before) => [
    ...(Array.isArray(before) ? before : []),
    ...flag
      .split(',')
      .filter((one) => one !== '')
      .map((one) => {
        const [, key, value, effect] = /^([^=:]*)(?:=([^:]*))?:(.*)$/.exec(one) ?? [];
        return { key, value, effect };
      }),
  ],
  isZero: () => false,
};
