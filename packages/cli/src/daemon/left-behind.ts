import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, isErrno, PRIVATE_FILE } from '@podwright/base';

const fileIn = (state: string): string => join(state, 'left-behind');

/**
 * Waits until a node has stopped. If it could not remove all of its state, writes the error to a file, to be reported by the command that
 * stopped it.
 */
export async function noteLeftBehind(state: string, end: Promise<void>): Promise<void> {
  rmSync(fileIn(state), { force: true });
  try {
    await end;
  } catch (error) {
    writeFileSync(fileIn(state), errorMessage(error), { mode: PRIVATE_FILE });
    throw error;
  }
}

/** Reads and deletes the error written by the stopped node. Returns `undefined` if there is none. */
export function takeLeftBehind(state: string): string | undefined {
  try {
    const text = readFileSync(fileIn(state), 'utf8');
    rmSync(fileIn(state), { force: true });
    return text;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}
