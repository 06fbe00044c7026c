import { writeSync } from 'node:fs';
import { errorMessage, isErrno } from '@podwright/base';
import { printError } from './terminal-text.ts';

/**
 * Makes writes to files complete or fail: on a nearly full disk, Node.js writes only part of the data and reports success. Streams to
 * terminals and pipes are left unchanged.
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

/**
 * Terminates the process when standard output fails: with exit code 0 if its reader has exited (`podwright ps | head`), otherwise with exit
 * code 1 and an error.
 */
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
