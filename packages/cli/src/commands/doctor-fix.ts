/** `podwright doctor --fix`: installs the programs that the findings name, by the host's package manager. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { PodwrightError } from '@podwright/base';
import { findProgram } from '@podwright/host';
import { printError } from '../output/terminal-text.ts';
import type { Finding } from './doctor-places.ts';
import { installCommands, packageManager } from './install-hint.ts';

/** The commands that install all that the findings lack, and the other missing requirements. Pure. */
export type FixPlan = { commands: string[][]; others: string[] };

export function planFix(findings: Finding[], osRelease?: string): FixPlan {
  const missing = findings.filter(({ level }) => level === 'missing');
  const others = missing.filter(({ lacks }) => lacks === undefined).map(({ what }) => what);
  const programs = missing.flatMap(({ lacks }) => lacks ?? []);
  if (programs.length === 0) return { commands: [], others };
  const manager = packageManager(osRelease);
  if (manager === undefined)
    throw new PodwrightError(
      'failed_precondition',
      `install ${programs.join(', ')}: the package manager of this distribution is unknown; install the packages by hand`,
    );
  return { commands: installCommands(manager, programs), others };
}

/**
 * Announces and runs the plan, after a question unless `yes`. The output of the package manager goes to standard error, because the
 * report of `doctor` may be JSON. Returns false if the user declined.
 */
export async function runFix({ commands, others }: FixPlan, { yes }: { yes?: boolean }): Promise<boolean> {
  if (others.length > 0) printError(`not fixed by packages: ${others.join(', ')}`);
  if (commands.length === 0) {
    printError('no package is missing: nothing to install');
    return true;
  }
  printError(`doctor --fix runs:\n${commands.map((words) => `  ${words.join(' ')}`).join('\n')}`);
  if (yes !== true && !(await confirmed())) return false;
  for (const words of commands) await runCommand(words);
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
