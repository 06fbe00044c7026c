import { PodwrightError } from '@podwright/base';
import type { ApiObject } from '../client/object-client.ts';
import { valuesAt, valueText } from '../output/jsonpath.ts';
import { type PathStep, parsePath } from '../output/jsonpath-parser.ts';

/** A condition of `wait --for`. */
export type WaitCondition =
  | { type: 'delete' }
  | { type: 'create' }
  | { type: 'condition'; name: string; status: string }
  | { type: 'jsonpath'; path: PathStep[]; value: string | undefined };

/** Parses `delete`, `create`, `condition=NAME[=STATUS]` or `jsonpath={PATH}[=VALUE]`. Throws `invalid_argument` for anything else. */
export function parseWaitCondition(text: string): WaitCondition {
  const verb = (['delete', 'create'] as const).find((one) => same(one, text));
  if (verb !== undefined) return { type: verb };
  const condition = /^condition=([^=]+)(?:=(.+))?$/.exec(text);
  if (condition !== null) return { type: 'condition', name: condition[1]!, status: condition[2] ?? 'True' };
  const jsonpath = /^jsonpath=(?:'?(\{.*\})'?|([^=]+))(?:=(.*))?$/s.exec(text);
  if (jsonpath !== null) {
    const [, braced, bare, value] = jsonpath;
    const wanted = value?.replace(/^['"]+|['"]+$/g, '').trim();
    if (wanted !== '') return { type: 'jsonpath', path: parsePath(braced ?? bare!), value: wanted };
  }
  throw new PodwrightError(
    'invalid_argument',
    `--for=${text.slice(0, 80)}: is none of condition=Ready, delete, create, jsonpath='{.status.phase}'=Running`,
  );
}

/** The part of a status read by `--for=condition`. Conditions observed for an earlier generation of the object do not count. */
type Conditions = {
  observedGeneration?: number;
  conditions?: { type: string; status: string; observedGeneration?: number }[];
};

/** Whether an existing object meets the condition. */
export function meets(object: ApiObject, condition: WaitCondition): boolean {
  switch (condition.type) {
    case 'delete':
      return false;
    case 'create':
      return true;
    case 'condition': {
      const { generation = 0 } = object.metadata;
      const status = ('status' in object ? object.status : undefined) as Conditions | undefined;
      const found = status?.conditions?.find(({ type }) => same(type, condition.name));
      const observed = found?.observedGeneration ?? status?.observedGeneration ?? generation;
      return found !== undefined && observed >= generation && same(found.status, condition.status);
    }
    case 'jsonpath': {
      const values = valuesAt(condition.path, object);
      if (condition.value === undefined) return values.length > 0;
      return values.length === 1 && valueText(values[0]).trim() === condition.value;
    }
  }
}

/** Case-insensitive comparison, as in kubectl. */
const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
