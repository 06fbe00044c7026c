import { NodeClient } from '../client/node-client.ts';
import { type ApiObject, ObjectClient } from '../client/object-client.ts';
import { POD } from '../client/object-names.ts';
import { printManifestErrors } from '../manifests/node-manifests.ts';
import { print } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { type GetOptions, queryOf, show } from './get.ts';
import { PS_COLUMNS } from './object-tables.ts';

export type PsOptions = Omit<GetOptions, 'namespace'> & { namespace?: string; quiet?: boolean };

/** `podwright ps`: `get pods` of all namespaces, unless one is named, and with addresses. */
export async function ps({ config }: CommandContext, options: PsOptions): Promise<void> {
  const client = new ObjectClient(config.apiSocket);
  const node = new NodeClient(config.apiSocket).node();
  node.catch(() => undefined); // the list tells what is wrong
  const chosen = { ...options, namespace: options.namespace ?? '', allNamespaces: options.namespace === undefined };
  if (options.quiet) return printNames(await client.list(POD, queryOf(chosen)));
  const narrowed = options.namespace ?? options.selector ?? options.fieldSelector;
  const nothing =
    narrowed === undefined ? "no pods; 'podwright run FILE' or 'podwright apply FILE' makes some" : undefined;
  await show(client, {
    selection: { kinds: [POD], named: [] },
    columns: () => PS_COLUMNS,
    options: chosen,
    nothing,
  });
  if (!options.watch) printManifestErrors(await node);
}

/** For scripts: nothing is said where there is none. */
function printNames(pods: ApiObject[]): void {
  for (const { metadata } of pods) print(metadata.name);
}
