/** Descriptions of kinds, structs and fields for `kubectl explain`, written for this project rather than copied from upstream. */
import { CLUSTER } from './cluster.ts';

import { CONTAINERS } from './containers.ts';
import { EXTENSIONS } from './extensions.ts';
import { JOBS } from './jobs.ts';
import { NETWORK } from './network.ts';
import { PODS } from './pods.ts';
import { SHARED_FIELDS } from './shared-fields.ts';
import { STORAGE } from './storage.ts';
import { WORKLOADS } from './workloads.ts';

/** The descriptions of a type's fields by field name. The key '' holds the description of the type itself. */
type Texts = Map<string, string>;

type Tables = {
  /** Descriptions by type name without version, such as `core.Pod`. They apply to all versions of the type. */
  exact: Map<string, Texts>;
  /** Descriptions by type name suffix, longest suffix first. */
  endings: [string, Texts][];
};

const TABLES = [PODS, CONTAINERS, STORAGE, WORKLOADS, JOBS, NETWORK, CLUSTER, EXTENSIONS, SHARED_FIELDS];

/**
 * Returns a function that looks up descriptions. `type` is a type name in the schema, such as `core.v1.Pod`. If `field` is omitted, the
 * function returns the description of the type.
 */
export function describeKinds(): (type: { name: string }, field?: string) => string | undefined {
  const { exact, endings } = parse(TABLES);
  return ({ name }, field = '') => {
    const short = name.replace(/\.v\d[^.]*\./, '.');
    return (
      exact.get(short)?.get(field) ??
      endings.find(([ending, texts]) => short.endsWith(ending) && texts.has(field))?.[1].get(field) ??
      (field === '' && short.endsWith('List')
        ? `A list of ${short.slice(short.indexOf('.') + 1, -4)} objects.`
        : undefined)
    );
  };
}

/** Returns all types and fields in the description tables. A type that starts with `*` is a name suffix. */
export function describedNames(): { type: string; field: string }[] {
  const { exact, endings } = parse(TABLES);
  const all = [...exact, ...endings.map(([ending, texts]) => [`*${ending}`, texts] as const)];
  return all.flatMap(([type, texts]) => [...texts.keys()].map((field) => ({ type, field })));
}

/**
 * Parses the description tables. A table consists of `TYPE: text` lines, each followed by indented `FIELD: text` lines. Sections for the
 * same type are merged.
 */
function parse(tables: readonly string[]): Tables {
  const byType = new Map<string, Texts>();
  let texts: Texts = new Map();
  for (const line of tables.flatMap((table) => table.split('\n'))) {
    const [, indent, name = '', text = ''] = /^( *)([^:]+):(?: (.*))?$/.exec(line) ?? [];
    if (indent === undefined) continue;
    if (indent === '') {
      texts = byType.get(name) ?? new Map();
      byType.set(name, texts);
    }
    if (text !== '') texts.set(indent === '' ? '' : name, text);
  }
  const endings = [...byType]
    .filter(([type]) => type.startsWith('*'))
    .map(([type, one]): [string, Texts] => [type.slice(1), one]);
  return {
    exact: new Map([...byType].filter(([type]) => !type.startsWith('*'))),
    endings: endings.sort(([a], [b]) => b.length - a.length),
  };
}
