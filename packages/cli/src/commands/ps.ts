import { ignoreFailure } from '@podwright/base';
import type { NodeInfo } from '@podwright/node-api';
import { NodeClient } from '../client/node-client.ts';
import { type ApiObject, ObjectClient } from '../client/object-client.ts';
import { POD } from '../client/object-names.ts';
import { print, printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { show } from './get.ts';
import { type GetOptions, queryOf } from './get-options.ts';
import { PS_COLUMNS } from './object-tables.ts';

export type PsOptions = Omit<GetOptions, 'namespace'> & { namespace?: string; quiet?: boolean };

/** `podwright ps`: like `get pods`, but for all namespaces by default and with IPs. */
export async function ps({ config }: CommandContext, options: PsOptions): Promise<void> {
  const client = new ObjectClient(config.apiSocket);
  const node = new NodeClient(config.apiSocket).node();
  ignoreFailure(node, 'the request for the list reports the same error');
  const chosen = { ...options, namespace: options.namespace ?? '', allNamespaces: options.namespace === undefined };
  if (options.quiet) return printNames(await client.list(POD, queryOf(chosen)));
  const narrowed = options.namespace ?? options.selector ?? options.fieldSelector;
  const nothing =
    narrowed === undefined ? "no pods; create some with 'podwright run FILE' or 'podwright apply FILE'" : undefined;
  await show(client, {
    selection: { kinds: [POD], named: [] },
    columns: () => PS_COLUMNS,
    options: chosen,
    nothing,
  });
  if (!options.watch) printManifestErrors(await node);
}

/** Prints only the pods' names, one per line, for scripts; prints nothing if there are no pods. */
function printNames(pods: ApiObject[]): void {
  for (const { metadata } of pods) print(metadata.name);
}

/**
 * Prints the errors that the node found in its manifest directory. The affected pods are missing, or run an older version of their manifest
 * file.
 */
function printManifestErrors({ manifestErrors = [] }: NodeInfo): void {
  for (const error of manifestErrors) printError(`warning: ${error}`);
}
