import { existsSync } from 'node:fs';
import { PodwrightError } from '@podwright/base';
import type { Kubeconfig } from '@podwright/kube-client';

/**
 * The cluster that a command reads from, selected by options like kubectl's. If `kubeconfig` is unset, the command reads from this
 * machine's node instead.
 */
export type ClusterChoice = {
  /** One or more files, separated by colons as in the environment variable KUBECONFIG. */
  kubeconfig?: string;
  /** A context of the kubeconfig. Default: the current one. */
  context?: string;
};

/**
 * Reads the selected kubeconfig. If there are several files, uses the first one that has the context, whereas kubectl would merge them.
 * Rejects with `invalid_argument` if no file has the context.
 */
export async function readChosen({ kubeconfig = '', context }: ClusterChoice): Promise<Kubeconfig> {
  const { readKubeconfig } = await import('@podwright/kube-client');
  const named = kubeconfig.split(':').filter((path) => path !== '');
  const existing = named.filter((path) => existsSync(path));
  // if no file exists, use the first name, so that an error reports this file as missing
  const paths = existing.length > 0 ? existing : named.slice(0, 1);
  let failure: unknown = new PodwrightError('invalid_argument', '--kubeconfig: the name of a file is needed');
  for (const [index, path] of paths.entries())
    try {
      return await readKubeconfig(path, context === undefined ? {} : { context });
    } catch (error) {
      if (index === 0) failure = error;
    }
  throw failure;
}

/** Throws `invalid_argument` if `--context` is used without `--kubeconfig`. */
export function requireKubeconfig({ kubeconfig, context }: ClusterChoice): void {
  if (context !== undefined && kubeconfig === undefined)
    throw new PodwrightError(
      'invalid_argument',
      '--context: it selects a context of a kubeconfig: add --kubeconfig FILE',
    );
}
