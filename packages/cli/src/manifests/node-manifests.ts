import type { NodeInfo } from '@podwright/node-api';
import { printError } from '../output/terminal-text.ts';

/** Tells what is wrong in the node's own manifest directory: its pods are missing, or run as an older state of their file says. */
export function printManifestErrors({ manifestErrors = [] }: NodeInfo): void {
  for (const error of manifestErrors) printError(`warning: ${error}`);
}
