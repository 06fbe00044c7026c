import { NodeClient } from '../client/node-client.ts';
import { print } from '../output/terminal-text.ts';
import { readManifests } from '../run/manifests.ts';
import type { CommandContext } from '../settings/node-config.ts';

/** `podwright apply FILE…`. */
export async function apply({ config }: CommandContext, files: string[]): Promise<void> {
  const { text } = readManifests(files);
  const { objects } = await new NodeClient(config.apiSocket).apply(text);
  for (const { kind, namespace, name, action } of objects)
    print(`${kind.toLowerCase()} ${namespace}/${name} ${action}`);
}
