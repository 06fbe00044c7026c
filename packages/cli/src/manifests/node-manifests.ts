import type { NodeInfo } from '@podwright/node-api';
import { printError } from '../output/terminal-text.ts';

/** Prints errors in the node's manifest directory. The affected pods are missing, or run with an older version of their file. */
export function printManifestErrors({ manifestErrors = [] }: NodeInfo): void {
  for (const error of manifestErrors) printError(`warning: ${error}`);
}
