import { PodwrightError } from '@podwright/base';
import type { NodeClient } from '../client/node-client.ts';
import { isNoNode } from '../client/unix-http.ts';
import { print, printError } from '../output/terminal-text.ts';
import { doneLine } from './done-line.ts';
import { findingLine, placeFindings } from './findings.ts';
import type { Manifests } from './read-manifests.ts';

/**
 * Prints what the node would do with the manifests, and any problems their pods would have. Returns exit code 1 if there are problems or
 * unknown kinds.
 */
export async function dryRun(client: NodeClient, { text, decoded }: Manifests): Promise<number> {
  const planned = client.apply(text, { dryRun: true, leaveOutUnknown: true });
  const {
    objects,
    findings,
    unknown = [],
  } = await planned.catch((error: unknown) => {
    if (!isNoNode(error)) throw error;
    throw new PodwrightError('unavailable', "a dry run needs a running node; 'podwright check' does not");
  });
  for (const object of objects) print(`${doneLine(object)} (dry run)`);
  const placed = placeFindings(findings, decoded);
  for (const finding of placed) printError(`${finding.severity}: ${findingLine(finding)}`);
  for (const problem of unknown) printError(`podwright: ${problem}`);
  return unknown.length > 0 || placed.some(({ severity }) => severity === 'problem') ? 1 : 0;
}
