import { inspect } from 'node:util';
import { errorMessage, withSourcePositions } from '@podwright/base';
import { printError } from './terminal-text.ts';

/** Prints an error and its causes like Node.js, but with source positions. */
export function printStack(error: unknown): void {
  printError(withSourcePositions(inspect(error)));
}

/** Makes an uncaught error terminate the process with exit code 1, as Node.js does. */
export function exitWhenUncaught(): void {
  process.on('uncaughtException', (error) => {
    printError(`podwright: ${errorMessage(error)}`);
    printStack(error);
    process.exit(1);
  });
}
