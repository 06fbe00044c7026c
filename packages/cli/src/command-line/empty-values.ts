import type { Command } from 'commander';

/** Options whose empty value says nothing; in a selector blanks do neither. */
const EMPTY: Record<string, RegExp> = { namespace: /^$/, selector: /^\s*$/ };

/**
 * Takes an empty namespace and an empty selector as not given, as kubectl does: with a script's `-l "$UNSET"` nothing is chosen, where
 * an empty selector would choose everything, and `-n "$UNSET"` is the default.
 */
export function forgetEmptyValues(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName();
    const value: unknown = command.getOptionValue(name);
    if (typeof value === 'string' && EMPTY[name]?.test(value))
      command.setOptionValueWithSource(name, option.defaultValue, 'default');
  }
}
