/** Derives invalid and unusual objects from valid ones. */
import { isMap, type Json, type Path, pathsOf, valueAt, withValue } from './json.ts';

export type Change = { what: string; object: Json };

const LONG = 'x'.repeat(300);

const replacements = (value: Json): [string, Json][] => {
  const common: [string, Json][] = [
    ['removed', undefined],
    ['null', null],
  ];
  if (typeof value === 'string')
    return [
      ...common,
      ['empty', ''],
      ['number', 7],
      ['object', {}],
      ['long', LONG],
      ['bad', 'Not_valid/ x'],
      ['other', 'other'],
    ];
  if (typeof value === 'number')
    return [...common, ['negative', -1], ['zero', 0], ['large', 3000000000], ['fraction', 1.5], ['string', 'x']];
  if (typeof value === 'boolean') return [...common, ['string', 'true'], ['inverted', !value]];
  if (Array.isArray(value))
    return [...common, ['empty', []], ['object', {}], ['doubled', [...value, ...value]], ['nulls', [null]]];
  return [...common, ['empty', {}], ['list', []], ['string', 'x'], ['unknown', { ...value, unknownField: 1 }]];
};

/** Returns variants of the object: each field is changed in several ways, one at a time. */
export function brokenObjects(object: Json): Change[] {
  const paths = pathsOf(object).filter(([first]) => first !== 'apiVersion' && first !== 'kind');
  return paths.flatMap((path) =>
    replacements(valueAt(object, path)).map(([what, value]) => ({
      what: `${path.join('.')} ${what}`,
      object: withValue(object, path, value),
    })),
  );
}

const isPrefix = (path: Path, other: Path): boolean => path.every((key, index) => key === other[index]);

/** Returns variants of the object, each with one part replaced by its counterpart from a complete example object, down to a given depth. */
export function graftedObjects(object: Json, complete: Json, depth: number): Change[] {
  const paths = pathsOf(complete, depth).filter(
    ([first]) => first !== 'apiVersion' && first !== 'kind' && first !== 'status',
  );
  return paths
    .filter((path) => !isPrefix(path, ['metadata', 'name']) && !isPrefix(path, ['metadata', 'namespace']))
    .map((path) => ({
      what: `${path.join('.')} of the example`,
      object: grafted(object, path, valueAt(complete, path)),
    }));
}

function grafted(object: Json, path: Path, value: Json): Json {
  const reachable = path.slice(0, -1).every((_, index) => {
    const holder = valueAt(object, path.slice(0, index + 1));
    return holder === undefined || isMap(holder) || Array.isArray(holder);
  });
  if (!reachable) return object;
  const lists = path.findIndex(
    (key, index) => typeof key === 'number' && valueAt(object, path.slice(0, index)) === undefined,
  );
  if (lists < 0) return withValue(object, path, value);
  return withValue(object, path.slice(0, lists), [withValue({}, ['item', ...path.slice(lists + 1)], value).item]);
}
