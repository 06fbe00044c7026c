import { errorMessage, isNotFound, PodwrightError } from '@podwright/base';
import type { ObjectClient } from '../client/object-client.ts';
import type { NamedObject, ObjectSelection } from '../client/object-names.ts';
import type { OutputFormat } from '../output/format.ts';
import { printError } from '../output/terminal-text.ts';
import { nothingFound } from './get-options.ts';

export type DescribeOptions = { namespace: string; allNamespaces?: boolean; selector?: string; output: OutputFormat };

/** Returns the named or selected objects, and an error message for each name that does not exist. */
export async function chosen(client: ObjectClient, { kinds, named }: ObjectSelection, options: DescribeOptions) {
  const { namespace, allNamespaces, selector } = options;
  const other = kinds.find(({ kind }) => kind === 'Image' || kind === 'Event');
  if (other !== undefined)
    throw new PodwrightError('invalid_argument', `describe ${other.plural}: not supported; use 'podwright get'`);
  if (named.length === 0) {
    const query = { namespace: allNamespaces ? undefined : namespace, labelSelector: selector };
    const objects = (await Promise.all(kinds.map((kind) => client.list(kind, query)))).flat();
    if (objects.length === 0) printError(nothingFound(kinds, options));
    return { objects, missing: [] };
  }
  const missing: string[] = [];
  const found = named.map(({ kind, name }) =>
    client.get(kind, name, namespace).then(
      (object) => [object],
      async (error: unknown) => {
        if (!isNotFound(error)) throw error;
        const matching = await startingWith(client, { kind, name }, namespace);
        if (matching.length === 0) missing.push(errorMessage(error));
        return matching;
      },
    ),
  );
  return { objects: (await Promise.all(found)).flat(), missing };
}

/** Returns the objects whose names start with `name`. Like `kubectl describe`, used if no object has exactly this name. */
async function startingWith(client: ObjectClient, { kind, name }: NamedObject, namespace: string) {
  const objects = await client.list(kind, { namespace });
  return objects.filter(({ metadata }) => metadata.name.startsWith(name));
}
