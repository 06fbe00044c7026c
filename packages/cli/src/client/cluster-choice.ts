import { existsSync } from 'node:fs';
import { PodwrightError } from '@podwright/base';
import type { Kubeconfig } from '@podwright/kube-client';

/** The cluster that a command reads, as kubectl's options of these names choose it. Without `kubeconfig`, it is the node of this machine. */
export type ClusterChoice = {
  /** A file, or several separated by colons, as in the environment variable KUBECONFIG. */
  kubeconfig?: string;
  /** A context of the kubeconfig, instead of the current one. */
  context?: string;
};

/**
 * Reads the kubeconfig of a choice. Of several files, the first one that has the context is used; kubectl would merge them. Rejects with
 * `invalid_argument` if there is no file with the context.
 */
export async function readChosen({ kubeconfig = '', context }: ClusterChoice): Promise<Kubeconfig> {
  const { readKubeconfig } = await import('@podwright/kube-client');
  const named = kubeconfig.split(':').filter((path) => path !== '');
  const existing = named.filter((path) => existsSync(path));
  // a file that does not exist is reported by the reader, if there is no other
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

/** Throws `invalid_argument` for an option that needs `--kubeconfig`. */
export function requireKubeconfig({ kubeconfig, context }: ClusterChoice): void {
  if (context !== undefined && kubeconfig === undefined)
    throw new PodwrightError(
      'invalid_argument',
      '--context: it selects a context of a kubeconfig: add --kubeconfig FILE',
    );
}
