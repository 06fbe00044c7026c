import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode, errorMessage, PodwrightError } from '@podwright/base';
import { removeTree } from '@podwright/host';
import { type ApiPort, type Edit, editableValue, readEdits, type Target, targetName } from '@podwright/kube-verbs';
import { apiTargets, requireApi } from '../client/api-targets.ts';
import { print, printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { editText } from './text-editor.ts';

export type EditOptions = {
  namespace: string;
  output: 'yaml' | 'json';
  subresource?: string;
  outputPatch?: boolean;
};

const HEADER = `# Save the file and leave the editor to change the objects. Lines that begin with '#' are ignored.
# An unchanged or empty file cancels the edit. If a change is refused, the editor opens again and shows the reason.
#
`;

/**
 * `podwright edit TYPE/NAME…`: opens the objects in an editor and sends the changes as JSON merge patches (kubectl sends strategic merge
 * patches for built-in kinds). Returns exit code 1 if a change failed; the edited file is then retained, and its path is printed.
 */
export async function edit({ config }: CommandContext, words: string[], options: EditOptions): Promise<number> {
  const { namespace, output, subresource } = options;
  const api = await requireApi(config.apiSocket, 'edit');
  const named = await apiTargets(api, words, { namespace, verb: 'edit', wholeKinds: true });
  const targets = subresource === undefined ? named : named.map((target) => subresourceOf(target, subresource));
  const file = join(mkdtempSync(join(tmpdir(), 'podwright-edit-')), `object.${output}`);
  const session = new EditSession({ api, targets, file, options });
  const mustKeep = await session.run().catch((error: unknown) => {
    printError(`the changes are in ${file}`);
    throw error;
  });
  if (!mustKeep) {
    await removeTree(join(file, '..'));
    return 0;
  }
  printError(`the changes are in ${file}`);
  return 1;
}

const subresourceOf = (target: Target, name: string): Target => ({ ...target, path: `${target.path}/${name}` });

type SessionParts = { api: ApiPort; targets: Target[]; file: string; options: EditOptions };

/**
 * An editing session: opens the editor, and reopens it as long as the edited text or a change in it is rejected as invalid, so that the
 * user can correct it.
 */
class EditSession {
  readonly #parts: SessionParts;
  readonly #targets: Target[];
  /** Why the last edited text, or changes in it, were rejected as invalid. Shown to the user when the editor reopens. */
  #reasons: string[] = [];
  /** Whether sending a change failed for a reason that further editing cannot fix, such as a lost connection. */
  #hasFailed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#targets = [...parts.targets];
  }

  /** Runs the editing session. Returns true if the edited file must be retained, because it has changes that were not applied. */
  async run(): Promise<boolean> {
    let shown = await this.#textOf(editableValue(this.#targets));
    for (;;) {
      const edited = uncommented(await editText(this.#parts.file, this.#header() + shown));
      if (edited.trim() === '') return this.#cancelled('the file is empty');
      if (edited === shown && this.#reasons.length === 0) return this.#cancelled('nothing was changed');
      if (edited === shown) throw new PodwrightError('invalid_argument', `edit: ${this.#reasons.join('; ')}`);
      shown = edited;
      this.#reasons = [];
      await this.#apply(edited);
      if (this.#reasons.length === 0) return this.#hasFailed;
      for (const reason of this.#reasons) printError(`podwright: ${reason}`);
    }
  }

  #cancelled(reason: string): boolean {
    printError(`edit cancelled: ${reason}`);
    return this.#hasFailed;
  }

  async #apply(text: string): Promise<void> {
    let edits: Edit[] = [];
    try {
      edits = readEdits(text, this.#targets);
    } catch (error) {
      if (errorCode(error) !== 'invalid_argument') throw error;
      this.#reasons.push(errorMessage(error));
    }
    for (const one of edits) await this.#send(one);
  }

  async #send({ target, after, patch }: Edit): Promise<void> {
    const name = targetName(target);
    if (patch === undefined) return print(`${name} skipped`);
    const { api, options } = this.#parts;
    if (options.outputPatch) print(`Patch: ${JSON.stringify(patch)}`);
    const query = { fieldManager: 'podwright-edit', fieldValidation: 'Strict' };
    const contentType = 'application/merge-patch+json';
    try {
      await api.call({ method: 'PATCH', path: target.path, query, body: patch, contentType });
      // if the editor reopens because of a different object, this change must not be sent again
      this.#targets[this.#targets.indexOf(target)] = { ...target, object: after };
      print(`${name} edited`);
    } catch (error) {
      if (errorCode(error) === 'invalid_argument') return void this.#reasons.push(`${name}: ${errorMessage(error)}`);
      this.#hasFailed = true;
      printError(`podwright: ${name} could not be changed: ${errorMessage(error)}`);
    }
  }

  #header(): string {
    if (this.#parts.options.output === 'json') return '';
    return HEADER + this.#reasons.map((reason) => `# ${reason.replaceAll('\n', '\n# ')}\n#\n`).join('');
  }

  async #textOf(value: object): Promise<string> {
    if (this.#parts.options.output === 'json') return `${JSON.stringify(value, undefined, 4)}\n`;
    return (await import('../output/terminal-yaml.ts')).terminalYaml(value);
  }
}

const uncommented = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n');
