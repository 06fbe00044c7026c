import { type Command, Option } from 'commander';
import type { KubeconfigOptions } from '../commands/kubeconfig.ts';
import type { Action } from './action.ts';

type ApiServerOptions = {
  listen: string;
  name?: string[];
  auditLog?: string;
  auditPolicy?: string;
  durability?: 'process' | 'power';
};

/**
 * Adds the commands for the node's Kubernetes API. `apiserver` serves the API without a node; it is only for tests and hidden from the
 * help.
 */
export function addApiServerCommands(program: Command, action: Action): void {
  program
    .command('apiserver', { hidden: true })
    .description('the Kubernetes API in the foreground')
    .option('--listen <host:port>', 'address of the API over TLS', '127.0.0.1:6443')
    .option('--name <name...>', 'further names of the serving certificate')
    .option('--audit-log <file>', 'log requests to this file')
    .addOption(
      new Option('--durability <level>', 'what a confirmed write survives: a crash of the process, or a power failure')
        .choices(['process', 'power'])
        .default('process'),
    )
    .option('--audit-policy <file>', 'which requests to log, and how much of them (audit.k8s.io/v1 Policy)')
    .action(
      action(async (context, [{ listen, name, ...options }]: [ApiServerOptions]) => {
        const { runApiServer } = await import('../daemon/api-server.ts');
        const { addressOf } = await import('../settings/listen-address.ts');
        await runApiServer(await context.settings(), { listen: addressOf(listen), names: name, ...options });
      }),
    );
  addClusterParts(program, action);
  program
    .command('kubeconfig')
    .description("print the administrator's kubeconfig for the node's Kubernetes API")
    .option('--user <name>', 'issue a certificate of another user')
    .option('--group <name...>', "the user's groups")
    .action(
      action(async (context, [options]: [KubeconfigOptions]) =>
        (await import('../commands/kubeconfig.ts')).kubeconfig(context, options),
      ),
    );
}

/** Adds the commands that run individual parts of a node's control plane against any API server. */
function addClusterParts(program: Command, action: Action): void {
  const kubeconfig = ['--kubeconfig <file>', 'kubeconfig of the API server'] as const;
  program
    .command('controllers')
    .description('run only the controllers of workloads, with any API server')
    .requiredOption(...kubeconfig)
    .action(
      action(async (context, [options]: [{ kubeconfig: string }]) =>
        (await import('../daemon/cluster-parts.ts')).runControllers(await context.settings(), options.kubeconfig),
      ),
    );
  program
    .command('proxy')
    .description('serve Services on this host instead of kube-proxy, with any API server')
    .requiredOption(...kubeconfig)
    .option('--node-name <name>', 'name of the Node (default: node_name of the configuration)')
    .action(
      action(async (context, [{ kubeconfig: path, nodeName }]: [{ kubeconfig: string; nodeName?: string }]) => {
        const { runProxy } = await import('../daemon/cluster-parts.ts');
        const config = await context.settings();
        await runProxy(nodeName === undefined ? config : { ...config, node_name: nodeName }, path);
      }),
    );
}
