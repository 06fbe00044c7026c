import { closeSync, openSync, readFileSync, readSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRecord } from '@podwright/base';
import { findProgram, runProgram } from '@podwright/host';

/**
 * How this program was installed: either as a single file, which `upgrade` can replace, or in a form that must be upgraded as described in
 * `advice`.
 */
export type Installation = { path: string; advice?: string };

export const RESTART_ADVICE = "then 'podwright upgrade' restarts the node";

/** Determines how this process's program was installed. */
export async function findInstallation(): Promise<Installation> {
  const { isSea } = process.getBuiltinModule('node:sea');
  const path = isSea() ? process.execPath : realpathSync(process.argv[1]!);
  const advice = checkoutAdvice(path) ?? (await packageAdvice(path));
  if (advice !== undefined) return { path, advice };
  return isSea() || isScript(path)
    ? { path }
    : { path, advice: `replace the files in ${dirname(path)}, ${RESTART_ADVICE}` };
}

function checkoutAdvice(path: string): string | undefined {
  const checkout = dirname(dirname(path));
  try {
    const description: unknown = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
    if (!isRecord(description) || description.name !== 'podwright-workspace') return undefined;
  } catch {
    return undefined;
  }
  return `it is a checkout: update ${checkout} with 'git pull' and 'make build', ${RESTART_ADVICE}`;
}

/**
 * Package managers that might own the program's file, each with the arguments for looking up a file's package, and the command for
 * installing a package.
 */
const MANAGERS = [
  { program: 'dpkg-query', args: ['--search'], install: 'apt install ./FILE.deb' },
  { program: 'rpm', args: ['--query', '--file'], install: 'dnf install ./FILE.rpm' },
];

async function packageAdvice(path: string): Promise<string | undefined> {
  for (const { program, args, install } of MANAGERS) {
    if (findProgram(program) === undefined) continue;
    const { exitCode } = await runProgram(program, [...args, path]);
    if (exitCode === 0) return `a package owns it: call '${install}', ${RESTART_ADVICE}`;
  }
  return undefined;
}

/** Whether the file is a script that contains the entire program. */
function isScript(path: string): boolean {
  const file = openSync(path, 'r');
  const start = Buffer.alloc(2);
  readSync(file, start);
  closeSync(file);
  return start.toString('latin1') === '#!';
}
