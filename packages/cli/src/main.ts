import { shownError } from '@podwright/base';
import { CommanderError } from 'commander';
import { namespaceBehindVerb } from './command-line/leading-namespace.ts';
import { heedColourChoice } from './output/colour-choice.ts';
import { exitWhenUncaught, printStack } from './output/stack.ts';
import { exitWhenOutputFails, writeWholly } from './output/standard-output.ts';
import { printError } from './output/terminal-text.ts';
import { createProgram } from './program.ts';

/** Runs the command given by the process's arguments. Called once, by the program's entry point. */
export async function main(): Promise<void> {
  exitWhenUncaught();
  heedColourChoice(process.env);

  writeWholly();
  exitWhenOutputFails();

  let exitCode = 0;
  try {
    const words = namespaceBehindVerb(process.argv.slice(2));
    const program = createProgram((code) => {
      exitCode = code;
    }, words);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    // commander has already printed the error or the help
    if (error instanceof CommanderError) exitCode = error.exitCode;
    else {
      printError(`podwright: ${shownError(error)}`);
      if (process.env.PODWRIGHT_DEBUG) printStack(error);
      exitCode = 1;
    }
  }
  process.exitCode = exitCode;
  // Exit immediately: tearing down the heap takes Node.js as long as a call to the node. But first, all output must have been written or
  // its error reported.
  if (process.stdout.writableLength === 0 && process.stdout.errored === null) process.exit();
}
