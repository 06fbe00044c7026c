import { ADDRESS_FUNCTIONS } from './addresses.ts';
import { formatFunctions } from './formats.ts';
import { LIST_FUNCTIONS } from './lists.ts';
import { patternFunctions } from './matching.ts';
import { OPERATORS } from './operators.ts';
import { OPTIONAL_FUNCTIONS } from './optionals.ts';
import type { FunctionTable, Overload } from './overload.ts';
import { QUANTITY_FUNCTIONS } from './quantities.ts';
import { standardFunctions } from './standard.ts';
import { TEXT_FUNCTIONS } from './texts.ts';
import { URL_FUNCTIONS } from './urls.ts';
import { VERSION_FUNCTIONS } from './versions.ts';

/** Returns the functions available in Kubernetes 1.36 (apiserver, pkg/cel/environment/base.go). */
export function kubernetesFunctions(): FunctionTable {
  return merged([
    OPERATORS,
    standardFunctions(),
    patternFunctions(),
    TEXT_FUNCTIONS,
    LIST_FUNCTIONS,
    OPTIONAL_FUNCTIONS,
    QUANTITY_FUNCTIONS,
    VERSION_FUNCTIONS,
    ADDRESS_FUNCTIONS,
    URL_FUNCTIONS,
    formatFunctions(),
  ]);
}

/** Merges function tables. A function in several tables has the overloads of all of them. */
export function merged(tables: readonly FunctionTable[]): FunctionTable {
  const all = new Map<string, Overload[]>();
  for (const table of tables)
    for (const [name, overloads] of Object.entries(table)) all.set(name, [...(all.get(name) ?? []), ...overloads]);
  return Object.fromEntries(all);
}
