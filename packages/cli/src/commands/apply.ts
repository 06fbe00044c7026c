import { NodeClient } from '../client/node-client.ts';
import { doneLine } from '../manifests/done-line.ts';
import { dryRun } from '../manifests/dry-run.ts';
import { printNotes } from '../manifests/findings.ts';
import { type ManifestOptions, manifestNames, readManifests } from '../manifests/read-manifests.ts';
import { print, printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type ApplyOptions = ManifestOptions & { dryRun?: boolean };

/** `podwright apply FILE…`. Returns exit code 1 if a dry run finds a problem, or if an object is skipped because its kind is unknown. */
export async function apply({ config }: CommandContext, files: string[], options: ApplyOptions): Promise<number> {
  const client = new NodeClient(config.apiSocket);
  const manifests = await readManifests(manifestNames('apply', files, options), options, () =>
    client.hasKubernetesApi(),
  );
  if (options.dryRun) return dryRun(client, manifests);
  const { objects, findings, warnings, unknown = [] } = await client.apply(manifests.text, { leaveOutUnknown: true });
  for (const object of objects) print(doneLine(object));
  for (const warning of warnings) printError(`warning: ${warning}`);
  printNotes(findings, manifests.decoded);
  for (const problem of unknown) printError(`podwright: ${problem}`);
  return unknown.length === 0 ? 0 : 1;
}
