import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { PodwrightError, PRIVATE_FILE } from '@podwright/base';

/** Maximum size of an edited text, the same as for a request body in the Kubernetes API. */
const MAX_BYTES = 3 << 20;

/**
 * Writes the text to the file, opens it in the editor from `KUBE_EDITOR` or `EDITOR` (default: vi), and returns the edited text. Rejects
 * with `failed_precondition` if the editor cannot be started or fails, and with `resource_exhausted` if the text is too large.
 */
export async function editText(file: string, text: string): Promise<string> {
  const { KUBE_EDITOR, EDITOR } = process.env;
  const editor = KUBE_EDITOR || EDITOR || 'vi';
  writeFileSync(file, text, { mode: PRIVATE_FILE });
  const ignore = () => undefined; // Ctrl-C also reaches this process, but is meant for the editor
  process.on('SIGINT', ignore);
  try {
    // the editor variable can contain options, as in `code --wait`
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
