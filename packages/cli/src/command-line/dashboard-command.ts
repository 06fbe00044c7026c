import type { Command } from 'commander';
import type { DashboardCommandOptions } from '../commands/dashboard.ts';
import type { Action } from './action.ts';

const EXAMPLES = `
The page has the rights of the kubeconfig's user. Without --kubeconfig, it uses
the socket of this machine's node, with the rights of root; the node must have a
Kubernetes API. The page is served until this command ends.

Examples:
  podwright dashboard
  podwright dashboard --listen 8080       then, from elsewhere: ssh -L 8080:127.0.0.1:8080 HOST
  podwright dashboard --kubeconfig FILE   any cluster, with the rights of the file's user
`;

export function addDashboard(program: Command, action: Action): void {
  program
    .command('dashboard')
    .description('serve a web page that shows what runs, and why something does not')
    .option('--kubeconfig <file>', 'show the cluster of this file (default: the node of this machine)')
    .option('--context <name>', 'with --kubeconfig: a context of the file (default: its current one)')
    .option('-n, --namespace <name>', 'namespace that is shown first')
    .option('--listen <[host:]port>', 'address of the page', '127.0.0.1:0')
    .option('--open', 'open the page in the browser of this machine')
    .addHelpText('after', EXAMPLES)
    .action(
      action(async (context, [options]: [DashboardCommandOptions]) =>
        (await import('../commands/dashboard.ts')).dashboard(context, options),
      ),
    );
}
