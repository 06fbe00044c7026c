import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { PodwrightError, PRIVATE_FILE } from '@podwright/base';

/** Maximum size of an edited text: that of a request to the API. */
const MAX_BYTES = 3 << 20;

/**
 * Lets the user edit a text in a file, with the program that `KUBE_EDITOR` or `EDITOR` names, else vi. Returns the text afterwards. Rejects
 * with `failed_precondition` if the program cannot be started or fails.
 */
export async function editText(file: string, text: string): Promise<string> {
  const { KUBE_EDITOR, EDITOR } = process.env;
  const editor = KUBE_EDITOR || EDITOR || 'vi';
  writeFileSync(file, text, { mode: PRIVATE_FILE });
  const ignore = () => undefined; // an interrupt is for the editor
  process.on('SIGINT', ignore);
  try {
    // the variable may have options, as in `code --wait`
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (code !== 0)
      throw new PodwrightError(
        'failed_precondition',
        `edit: the editor "${editor}" ended with ${signal ?? `exit code ${code}`}`,
      );
  } finally {
    process.off('SIGINT', ignore);
  }
  const edited = readFileSync(file);
  if (edited.length > MAX_BYTES)
    throw new PodwrightError('resource_exhausted', `edit: the text is larger than ${MAX_BYTES >> 20} MiB`);
  return edited.toString('utf8');
}
