import { writeSync } from 'node:fs';
import { errorMessage, isErrno } from '@podwright/base';
import { printError } from './terminal-text.ts';

/**
 * Has what goes into a file be written as a whole, or fail: Node.js writes what fits on a nearly full disk and calls that a success.
 * Terminals and pipes are others' to wait for.
 */
export function writeWholly(stream: NodeJS.WriteStream & { fd: number } = process.stdout): void {
  if (stream.constructor.name !== 'SyncWriteStream') return;
  stream._write = (chunk: Buffer, _encoding, done) => {
    let error: Error | null = null;
    try {
      for (let written = 0; written < chunk.length; ) written += writeSync(stream.fd, chunk, written);
    } catch (caught) {
      error = caught as Error;
    }
    done(error);
  };
}

/** Ends the process when standard output fails: with 0 if its reader went away (`podwright ps | head`), else 1 and the reason. */
export function exitWhenOutputFails(): void {
  process.stdout.on('error', (error) => {
    if (isErrno(error, 'EPIPE')) process.exit(0);
    tellOutputFailed(error);
    process.exit(1);
  });
}

export function tellOutputFailed(error: Error): void {
  printError(`podwright: write the output: ${errorMessage(error)}`);
}
