import { inspect } from 'node:util';
import { errorMessage, withSourcePositions } from '@podwright/base';
import { printError } from './terminal-text.ts';

/** Prints an error as Node.js would, with its causes, and with the positions in the sources. */
export function printStack(error: unknown): void {
  printError(withSourcePositions(inspect(error)));
}

/** Ends the process with exit code 1 at an error that nobody catches, as Node.js does. */
export function exitWhenUncaught(): void {
  process.on('uncaughtException', (error) => {
    printError(`podwright: ${errorMessage(error)}`);
    printStack(error);
    process.exit(1);
  });
}
