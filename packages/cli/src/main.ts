import { shownError } from '@podwright/base';
import { exitWhenUncaught, printStack } from './output/stack.ts';
import { printError } from './output/terminal-text.ts';
import { createProgram } from './program.ts';

exitWhenUncaught();

// A reader that goes away (`podwright ps | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

let exitCode = 0;
try {
  const program = createProgram((code) => {
    exitCode = code;
  });
  await program.parseAsync();
} catch (error) {
  printError(`podwright: ${shownError(error)}`);
  if (process.env.PODWRIGHT_DEBUG) printStack(error);
  exitCode = 1;
}
process.exitCode = exitCode;
