import type { Command } from 'commander';

/** Matches values that are treated as empty. A selector consisting only of whitespace counts as empty. */
const EMPTY: Record<string, RegExp> = { namespace: /^$/, selector: /^\s*$/ };

/**
 * Treats an empty namespace or selector as unset. In a script, `-l "$UNSET"` must not select all objects by accident, and `-n "$UNSET"`
 * should mean the default namespace, as in kubectl.
 */
export function forgetEmptyValues(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName();
    const value: unknown = command.getOptionValue(name);
    if (typeof value === 'string' && EMPTY[name]?.test(value))
      command.setOptionValueWithSource(name, option.defaultValue, 'default');
  }
}
