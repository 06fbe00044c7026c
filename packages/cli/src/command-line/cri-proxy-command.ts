import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CriProxyFlags } from '../daemon/cri-proxy.ts';
import type { Action } from './action.ts';
import { count, gathered } from './options.ts';

const HELP = `
Point a kubelet, or crictl, to the socket of --listen. Every call passes to the
runtime as it is, v1 and v1alpha2. Values of environment variables and
credentials are neither shown nor recorded. docs/cri-proxy.md has the formats.

Examples:
  podwright cri-proxy --listen unix:///run/p.sock --to unix:///run/containerd/containerd.sock
                                             the calls of a kubelet, with their durations
  podwright cri-proxy … --method 'Run*' --pod kube-system/* -o json | jq .durationMs
                                             some of them, as JSON
  podwright cri-proxy … --record calls.jsonl also write all calls to a file
  podwright cri-proxy --listen unix:///run/p.sock --replay calls.jsonl
                                             the recorded runtime, for a kubelet without one
  podwright cri-proxy … --script slow.yaml   with these lines in slow.yaml, the first sandbox of
                                             each pod called web takes three minutes:
    rules:
    - {method: RunPodSandbox, pod: web, delay: 3m, count: 1}
`;

/** Parser for a repeatable option: splits a comma-separated value and appends it to the option's earlier values. */
const list = (value: string, before: string[] = []): string[] => [...before, ...value.split(',').filter(Boolean)];

/** Adds the `cri-proxy` command, a proxy between a kubelet and its runtime. */
export function addCriProxy(program: Command, action: Action): void {
  program
    .command('cri-proxy')
    .description('show, record, replay and change the calls between a kubelet and its runtime')
    .requiredOption('--listen <socket>', 'socket for the kubelet: unix:///path')
    .option('--to <socket>', 'socket of the runtime')
    .option('--replay <file>', 'recording from which to answer, instead of --to')
    .option('--method <name>', 'show only these methods, such as RunPodSandbox or List*', list)
    .option('--pod <pod>', 'show only calls for these pods: NAME or NAMESPACE/NAME, with *', gathered)
    .option('--bodies', 'with -o json: also print requests and answers')
    .option('--record <file>', 'write all calls to a new file')
    .option('--script <file>', 'rules that delay, fail, cut, repeat or reorder calls')
    .option('--seed <number>', 'seed of the random choices of the script', count)
    .addOption(
      new Option('-o, --output <format>', 'table, json or none').argParser(outputFormat).default('table', 'table'),
    )
    .addHelpText('after', HELP)
    .action(
      action(async (_context, [options]: [CriProxyFlags]) =>
        (await import('../daemon/cri-proxy.ts')).runCriProxy(options),
      ),
    );
}

function outputFormat(value: string): 'table' | 'json' | 'none' {
  if (value === 'table' || value === 'json' || value === 'none') return value;
  throw new InvalidArgumentError('it must be table, json or none');
}
