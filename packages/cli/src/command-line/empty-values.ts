import type { Command } from 'commander';

/** Matches the values that count as empty. A selector of only blanks is empty, too. */
const EMPTY: Record<string, RegExp> = { namespace: /^$/, selector: /^\s*$/ };

/**
 * Treats an empty namespace and an empty selector as not given, as kubectl does: a script's `-l "$UNSET"` must not select every object,
 * and `-n "$UNSET"` is the default namespace.
 */
export function forgetEmptyValues(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName();
    const value: unknown = command.getOptionValue(name);
    if (typeof value === 'string' && EMPTY[name]?.test(value))
      command.setOptionValueWithSource(name, option.defaultValue, 'default');
  }
}
