/** Field names in expressions (apiserver, pkg/cel/escaping.go). */

const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** Returns the name that a field has in expressions; `undefined` if expressions cannot refer to it. */
export function fieldNameOf(name: string): string | undefined {
  if (!/^[A-Za-z_.\-/][\w.\-/]*$/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[./-]/g, (part) => ESCAPES[part]!);
}
