import { PodwrightError } from '@podwright/base';
import { readRegularFile } from '@podwright/host';
import { escapeTerminal } from '../output/terminal-text.ts';
import { apiServerPaths } from '../settings/api-server-paths.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type KubeconfigOptions = { user?: string; group?: string[] };

const MAX_BYTES = 1 << 20;

const WRITER =
  'which a running node writes if the table api of its configuration file has enabled = true and an address, such as listen = "6443"';

/** `podwright kubeconfig`: prints the administrator's kubeconfig, or a new one for another user. */
export async function kubeconfig({ config }: CommandContext, { user, group = [] }: KubeconfigOptions): Promise<void> {
  const paths = apiServerPaths(config);
  const own = await readRegularFile(paths.kubeconfig, MAX_BYTES).catch((error: unknown) => {
    throw new PodwrightError('failed_precondition', `read ${paths.kubeconfig}, ${WRITER}`, {
      cause: error,
    });
  });
  if (user === undefined) return void process.stdout.write(escapeTerminal(own));
  const { issueKubeconfig } = await import('@podwright/api-server');
  const [, server = ''] = /^\s+server: (\S+)$/m.exec(own) ?? [];
  const issued = await issueKubeconfig(paths.directory, { server, username: user, groups: group });
  process.stdout.write(escapeTerminal(issued));
}
