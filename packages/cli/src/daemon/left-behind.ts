import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, isErrno, PRIVATE_FILE } from '@podwright/base';

const fileIn = (state: string): string => join(state, 'left-behind');

/** Writes down what a node could not remove as it ended, for the command that asked it to end. */
export async function noteLeftBehind(state: string, end: Promise<void>): Promise<void> {
  rmSync(fileIn(state), { force: true });
  try {
    await end;
  } catch (error) {
    writeFileSync(fileIn(state), errorMessage(error), { mode: PRIVATE_FILE });
    throw error;
  }
}

/** What the node that has just ended could not remove, and forgets it. */
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
