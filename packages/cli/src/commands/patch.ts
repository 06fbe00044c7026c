import { createReadStream } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { gatherBytes, PodwrightError, wrapError } from '@podwright/base';
import { knownKinds } from '../client/known-kinds.ts';
import { type ApiObject, ObjectClient, type PatchType, type Subresource } from '../client/object-client.ts';
import { isApiKind, POD, parseObjects, qualifiedKind } from '../client/object-names.ts';
import { MAX_PATCH_BYTES } from '../limits.ts';
import { print } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type PatchOptions = {
  namespace: string;
  patch?: string;
  patchFile?: string;
  type: PatchType;
  subresource?: Subresource;
};

/** `podwright patch POD -p PATCH`; as in kubectl, also `TYPE NAME` and `TYPE/NAME`. */
export async function patch({ config }: CommandContext, words: string[], options: PatchOptions): Promise<void> {
  const { namespace, type, subresource } = options;
  const { named } = parseObjects(words, { bare: POD, known: await knownKinds(config.apiSocket, words) });
  if (named.length === 0) throw new PodwrightError('invalid_argument', `patch: name the ${words.join(' ')}`);
  const other = named.find(({ kind }) => kind !== POD && !isApiKind(kind));
  if (subresource !== undefined && other !== undefined)
    throw new PodwrightError('invalid_argument', `patch: a ${other.kind.singular} has no ${subresource} to patch`);
  const body = await patchBody(options);
  const client = new ObjectClient(config.apiSocket);
  for (const { kind, name } of named) {
    const before = await client.get(kind, name, namespace);
    const after = await client.sendPatch(kind, before.metadata, { type, body, subresource });
    const unchanged = isDeepStrictEqual(comparable(before), comparable(after));
    print(`${qualifiedKind(kind)}/${name} patched${unchanged ? ' (no change)' : ''}`);
  }
}

const comparable = ({ metadata, ...rest }: ApiObject) => ({ ...rest, metadata: { ...metadata, resourceVersion: '' } });

async function patchBody({ patch: text, patchFile: file }: PatchOptions): Promise<string> {
  if (text !== undefined && file === undefined) return asJson(text, '--patch');
  if (text === undefined && file !== undefined) return asJson(await readPatch(file), `--patch-file ${file}`);
  throw new PodwrightError('invalid_argument', 'patch: give the patch with -p PATCH or --patch-file FILE');
}

async function readPatch(file: string): Promise<string> {
  const refusal = () => new PodwrightError('resource_exhausted', `more than ${MAX_PATCH_BYTES >> 20} MiB`);
  try {
    return (await gatherBytes(createReadStream(file), MAX_PATCH_BYTES, refusal)).toString();
  } catch (error) {
    throw wrapError(`patch: read --patch-file ${file}`, error);
  }
}

async function asJson(text: string, option: string): Promise<string> {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    const json = (await import('./patch-yaml.ts')).yamlAsJson(text);
    if (json !== undefined) return json;
    throw new PodwrightError('invalid_argument', `patch: ${option} is neither JSON nor YAML of an object`);
  }
}
