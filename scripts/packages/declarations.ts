/** Reads the declaration files written by tsc, in which each declaration begins at the start of a line. */

/** A name in a module: either declared there, or imported from another module under a different name. */
type Origin = { module: string; name: string };

export type DeclarationFile = {
  /** The texts of declarations by name, without comments; an overloaded function has several. */
  declared: Map<string, string[]>;
  imported: Map<string, Origin>;
  exported: Map<string, Origin | 'local'>;
  /** Modules whose names are all re-exported (`export *`). */
  exportedModules: string[];
};

export function parseDeclarations(text: string): DeclarationFile {
  const file: DeclarationFile = { declared: new Map(), imported: new Map(), exported: new Map(), exportedModules: [] };
  for (const statement of statementsOf(text)) addStatement(file, statement);
  return file;
}

const withoutComments = (text: string): string =>
  text.replaceAll(/^[ \t]*\/\*\*?[\s\S]*?\*\/[ \t]*\n/gm, '').replaceAll(/^[ \t]*\/\/.*\n/gm, '');

function statementsOf(text: string): string[] {
  return withoutComments(text)
    .split(/^(?=(?:export|import|declare|type|interface)\b)/m)
    .map((statement) => statement.trimEnd())
    .filter((statement) => statement !== '');
}

function addStatement(file: DeclarationFile, statement: string): void {
  const [, all] = /^export \* from ['"](.+)['"];$/.exec(statement) ?? [];
  if (all !== undefined) file.exportedModules.push(all);
  const [, verb, names, module] =
    /^(import|export)(?: type)? \{([^}]*)\}(?: from ['"](.+)['"])?;$/.exec(statement) ?? [];
  for (const [name, as] of namesIn(names ?? '')) {
    if (verb === 'import') file.imported.set(as, { module: module!, name });
    else file.exported.set(as, module === undefined ? (file.imported.get(name) ?? 'local') : { module, name });
  }
  const [, exported, name] =
    /^(export )?(?:declare )?(?:abstract )?(?:async )?(?:class|function\*?|const|let|type|interface|enum) ([\w$]+)/.exec(
      statement,
    ) ?? [];
  if (name === undefined) return;
  file.declared.set(name, [...(file.declared.get(name) ?? []), statement.replace(/^export /, '')]);
  if (exported !== undefined) file.exported.set(name, 'local');
}

/** Pairs of name and alias in `type A, B as C`. */
function namesIn(list: string): [string, string][] {
  return list
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '')
    .map((name) => name.split(' as ') as [string, string?])
    .map(([name, as]) => [name, as ?? name]);
}
