import { readFileSync } from 'node:fs';
import { DEFAULT_FILE } from './node-paths.ts';

/**
 * Returns true if a command with these arguments may use fast paths at startup, as set by the flag or, if it is unset, by `fast_paths` in
 * the configuration file. This runs before the code that parses the command line and the configuration is loaded, so it only scans the
 * arguments and the lines before the file's first table. A wrong result affects only the startup time. Invalid values are reported later.
 */
export function usesFastStart(args: string[], defaultFile = DEFAULT_FILE): boolean {
  const flag = givenValue(args, '--fast-paths');
  if (flag !== undefined) return flag !== 'false';
  const [top = ''] = textOf(givenValue(args, '--config') ?? defaultFile).split(/^\s*\[/m);
  return !/^\s*fast_paths\s*=\s*false\b/m.test(top);
}

/** Returns the value of a flag given as `--flag VALUE` or `--flag=VALUE` before any `--`. */
function givenValue(args: string[], flag: string): string | undefined {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  const index = own.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`));
  return own[index]?.slice(flag.length + 1) || own[index + 1 || own.length];
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // the missing value is reported when the settings are read
  }
}
