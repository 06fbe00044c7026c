import type { Command } from 'commander';

/** Formats the options that select and configure a node, one per line. */
export function settingsText(program: Command): string {
  const settings = program.options.filter(({ short }) => short !== '-V');
  const rows = settings.map(({ flags, description }) => ({ flags, description }));
  const width = Math.max(...rows.map(({ flags }) => flags.length));
  return rows.map(({ flags, description }) => `  ${flags.padEnd(width)}  ${description}`).join('\n');
}
