import type { Command } from 'commander';
import type { JoinOptions } from '../commands/join.ts';
import type { Action } from './action.ts';

const JOIN_EXAMPLE = `
Discovers the cluster with a bootstrap token, as kubeadm join does, and writes
the files that 'podwright node' needs to ROOT/cluster. On the control plane,
'kubeadm token create --print-join-command' prints the arguments.

Example:
  podwright join 192.0.2.1:6443 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:1f3c…
`;

/** Adds the commands for joining and leaving a cluster. */
export function addClusterCommands(program: Command, action: Action): void {
  program
    .command('join')
    .description('make this node join a cluster')
    .argument('<api-server>', 'HOST:PORT of the API server')
    .requiredOption('--token <token>', 'bootstrap token')
    .option('--discovery-token-ca-cert-hash <hash...>', "sha256: of the public key of the cluster's authority")
    .option('--discovery-token-unsafe-skip-ca-verification', 'trust any server that proves it has the token')
    .option('--kubelet-configuration <file>', "KubeletConfiguration to use instead of the cluster's kubelet-config")
    .option('--timeout <duration>', 'how long to wait for the API server', '20s')
    .option('--dry-run', 'show what would be written')
    .addHelpText('after', JOIN_EXAMPLE)
    .action(
      action(async (context, [server, options]: [string, JoinOptions]) =>
        (await import('../commands/join.ts')).join(context, server, options),
      ),
    );
  program
    .command('leave')
    .description('forget the cluster that this node has joined')
    .action(action(async (context) => (await import('../commands/leave.ts')).leave(context)));
}
