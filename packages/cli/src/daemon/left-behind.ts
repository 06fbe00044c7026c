import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, isErrno, PRIVATE_FILE } from '@podwright/base';

const fileIn = (state: string): string => join(state, 'left-behind');

/** Waits for the end of a node. Writes the error about state that the node could not remove to a file for the command that stopped it. */
export async function noteLeftBehind(state: string, end: Promise<void>): Promise<void> {
  rmSync(fileIn(state), { force: true });
  try {
    await end;
  } catch (error) {
    writeFileSync(fileIn(state), errorMessage(error), { mode: PRIVATE_FILE });
    throw error;
  }
}

/** Reads and deletes the error that the stopped node has written; `undefined` if there is none. */
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
