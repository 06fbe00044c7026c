import { shownError } from '@podwright/base';
import { CommanderError } from 'commander';
import { namespaceBehindVerb } from './command-line/leading-namespace.ts';
import { heedColourChoice } from './output/colour-choice.ts';
import { exitWhenUncaught, printStack } from './output/stack.ts';
import { exitWhenOutputFails, writeWholly } from './output/standard-output.ts';
import { printError } from './output/terminal-text.ts';
import { createProgram } from './program.ts';

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
  // commander has said itself what is wrong with the command line, or shown its help
  if (error instanceof CommanderError) exitCode = error.exitCode;
  else {
    printError(`podwright: ${shownError(error)}`);
    if (process.env.PODWRIGHT_DEBUG) printStack(error);
    exitCode = 1;
  }
}
process.exitCode = exitCode;
// Else Node.js takes its heap apart first, which costs as much as a call of the node. What a slow reader has not taken yet is waited for,
// and an error of the output is told first.
if (process.stdout.writableLength === 0 && process.stdout.errored === null) process.exit();
