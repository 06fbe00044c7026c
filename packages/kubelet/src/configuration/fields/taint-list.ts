import type { Taint } from '../../api/node.ts';
import { type Decoder, list, object, oneOf, string } from '../../api/schema/decoder.ts';
import type { FieldType } from './field-types.ts';

const taint: Decoder<Taint> = object<Taint>(
  {
    key: string,
    value: string,
    effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
    timeAdded: string,
  },
  { required: ['key', 'effect'] },
);

/** Taints; in a flag `key=value:NoSchedule,key:NoExecute`. */
export const taints: FieldType<Taint[]> = {
  name: 'key=value:effect,…',
  decode: list((value, issues) => {
    if (typeof value !== 'string') return taint(value, issues);
    issues.add(() => `must be KEY=VALUE:EFFECT or KEY:EFFECT, got ${JSON.stringify(value)}`);
    return { key: value, effect: '' };
  }),
  fromFlag: (flag) => (flag === '' ? [] : flag.split(',').map(fromText)),
  isZero: () => false,
};

/** The taint, or the text where it is none. */
function fromText(text: string): Taint | string {
  const [, key, value, effect] = /^([^=:]+)(?:=([^=:]*))?:([^=:]+)$/.exec(text.trim()) ?? [];
  if (key === undefined || effect === undefined) return text;
  return { key, ...(value === undefined || value === '' ? {} : { value }), effect };
}
