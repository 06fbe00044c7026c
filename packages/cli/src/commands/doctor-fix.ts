/** `podwright doctor --fix`: installs the programs named in the findings with the host's package manager. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { errorMessage, PodwrightError } from '@podwright/base';
import { findProgram } from '@podwright/host';
import { printError } from '../output/terminal-text.ts';
import type { Finding } from './doctor-places.ts';
import { installCommands, packageManager } from './install-hint.ts';

/**
 * What `doctor --fix` does. `commands` install the missing requirements. `optional` commands install programs that only few pods need; they
 * may fail. `others` are requirements that no package provides.
 */
export type FixPlan = { commands: string[][]; optional: string[][]; others: string[] };

export function planFix(findings: Finding[], osRelease?: string): FixPlan {
  const missing = findings.filter(({ level }) => level === 'missing');
  const notes = findings.filter(({ level, lacks }) => level === 'note' && lacks !== undefined);
  const others = missing.filter(({ lacks }) => lacks === undefined).map(({ what }) => what);
  const programs = missing.flatMap(({ lacks }) => lacks ?? []);
  const extras = notes.flatMap(({ lacks }) => lacks ?? []);
  if (programs.length + extras.length === 0) return { commands: [], optional: [], others };
  const manager = packageManager(osRelease);
  if (manager === undefined && programs.length === 0)
    return { commands: [], optional: [], others: [...others, ...notes.map(({ what }) => what)] };
  if (manager === undefined)
    throw new PodwrightError(
      'failed_precondition',
      `install ${programs.join(', ')}: the package manager of this distribution is unknown; install the packages by hand`,
    );
  const commands = programs.length === 0 ? [] : installCommands(manager, programs);
  const optional = extras.length === 0 ? [] : installCommands(manager, extras);
  // the last command installs the packages; the ones before it update the package lists, which needs to be done only once
  return { commands, optional: commands.length === 0 ? optional : optional.slice(-1), others };
}

/**
 * Prints the plan, asks for confirmation unless `yes`, and runs it. The package manager's output goes to standard error, because the report
 * of `doctor` may be JSON. Returns false if the user declined.
 */
export async function runFix({ commands, optional, others }: FixPlan, { yes }: { yes?: boolean }): Promise<boolean> {
  if (others.length > 0) printError(`not fixed by packages: ${others.join(', ')}`);
  const all = [...commands, ...optional];
  if (all.length === 0) {
    printError('no package is missing: nothing to install');
    return true;
  }
  printError(`doctor --fix runs:\n${all.map((words) => `  ${words.join(' ')}`).join('\n')}`);
  if (yes !== true && !(await confirmed())) return false;
  for (const words of commands) await runCommand(words);
  try {
    for (const words of optional) await runCommand(words);
  } catch (error) {
    printError(`${errorMessage(error)}; only few pods need it`); // the report lists the program as missing
  }
  return true;
}

async function confirmed(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new PodwrightError(
      'failed_precondition',
      'install packages: standard input is no terminal to ask on; --yes installs them without a question',
    );
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question('Run these commands? [y/N] ')).trim());
  } finally {
    terminal.close();
  }
}

/** Runs a command without a shell. */
async function runCommand([name, ...args]: string[]): Promise<void> {
  const path = findProgram(name!);
  if (path === undefined)
    throw new PodwrightError('not_found', `install packages: ${name} not found; install them by hand`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const [code, signal] = (await once(
    spawn(path, args, { stdio: ['ignore', process.stderr, process.stderr], env }),
    'exit',
  )) as [number | null, NodeJS.Signals | null];
  if (code !== 0)
    throw new PodwrightError('internal', `${[name, ...args].join(' ')}: failed with ${signal ?? `exit code ${code}`}`);
}
