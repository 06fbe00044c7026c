import { PodwrightError } from '@podwright/base';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Action } from './action.ts';
import { count, namespaceOption, objectOutputOption, selectorOption, timeout } from './options.ts';

/** Adds the commands for workloads, which need a Kubernetes API: `rollout`, `scale`, `expose`, `create` and `autoscale`. */
export function addWorkloadCommands(program: Command, action: Action): void {
  addRollout(program, action);
  addCreate(program, action);
  program
    .command('scale <workload...>')
    .description('change the number of replicas: scale --replicas=3 deploy/web')
    .addOption(namespaceOption())
    .addOption(selectorOption().conflicts('all'))
    .option('--all', 'all objects of the type in the namespace')
    .requiredOption('--replicas <n>', 'new number of replicas', count)
    .option('--current-replicas <n>', 'scale only if the object has this number of replicas', count)
    .option('--resource-version <version>', 'scale only if the object has this resource version')
    .option('--timeout <duration>', 'wait at most this long until the object has the new number', timeout)
    .addHelpText('after', SCALE_EXAMPLES)
    .action(
      action(async (context, [words, options]: [string[], import('../commands/scale.ts').ScaleOptions]) =>
        (await import('../commands/scale.ts')).scale(context, words, options),
      ),
    );
}

const ROLLOUT_EXAMPLES = `
Examples:
  podwright rollout status deploy/web --timeout 60s   until the new pods are available; exit code 1 if they are not
  podwright rollout restart deploy/web                replace the pods
  podwright rollout undo deploy/web --to-revision 2   back to an earlier revision
`;

const SCALE_EXAMPLES = `
Examples:
  podwright scale --replicas=3 deploy/web
  podwright scale --replicas=0 --current-replicas=2 statefulset db
`;

const VERBS = {
  status: 'follow a rollout until it is done',
  history: 'list revisions, or show one',
  undo: 'go back to an earlier revision',
  restart: 'replace the pods',
  pause: 'pause the rollouts of a Deployment',
  resume: 'continue the rollouts of a paused Deployment',
} as const;

function addRollout(program: Command, action: Action): void {
  const rollout = program
    .command('rollout')
    .description('follow, undo, restart or pause rollouts of Deployments, DaemonSets and StatefulSets')
    .addHelpText('after', ROLLOUT_EXAMPLES);
  for (const [verb, about] of Object.entries(VERBS) as [keyof typeof VERBS, string][]) {
    const command = rollout
      .command(`${verb} <workload...>`)
      .description(`${about}: rollout ${verb} deploy/NAME`)
      .addOption(namespaceOption())
      .addOption(selectorOption());
    if (verb === 'status')
      command
        .option('--timeout <duration>', 'give up after this time (default: never)', timeout)
        .option('--no-watch', 'print the status now');
    if (verb === 'history') command.option('--revision <n>', 'show this revision with its pod template', count);
    if (verb === 'undo') command.option('--to-revision <n>', 'revision (default: the previous one)', count);
    command.action(
      action(async (context, [words, options]: [string[], import('../commands/rollout.ts').RolloutOptions]) =>
        (await import('../commands/rollout.ts')).rollout(context, { verb, words }, options),
      ),
    );
  }
}

const dryRunOption = () =>
  new Option('--dry-run <mode>', 'client: only print the object; server: the API checks it').choices([
    'client',
    'server',
    'none',
  ]);

function addCreate(program: Command, action: Action): void {
  program
    .command('expose <workload...>')
    .description('make a Service for the pods of an object: expose deploy/web --port=80')
    .addOption(namespaceOption())
    .option('--port <ports>', 'ports of the Service (default: those of the containers)', ports)
    .option('--target-port <port>', 'number or name of the port of the pods (default: --port)', targetPort)
    .option('--name <name>', 'name of the Service (default: that of the object)')
    .addOption(new Option('--type <type>').choices(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName']))
    .addOption(new Option('--protocol <protocol>').choices(['TCP', 'UDP', 'SCTP']))
    .option('--selector <labels>', 'labels of the pods (default: those that the object selects)', labels)
    .option('-l, --labels <labels>', 'labels of the Service (default: those of the object)', labels)
    .option('--cluster-ip <address>', 'address of the Service; None for a headless one')
    .option('--external-ip <address>', 'further address')
    .option('--load-balancer-ip <address>', 'address for the load balancer')
    .addOption(new Option('--session-affinity <affinity>').choices(['None', 'ClientIP']))
    .addOption(dryRunOption())
    .addOption(objectOutputOption())
    .addHelpText('after', '\nExample:\n  podwright expose deploy/web --port=80 --target-port=8080 --type=NodePort\n')
    .action(
      action(async (context, [words, options]: [string[], ExposeFlags]) => {
        const { port, clusterIp: clusterIP, externalIp: externalIP, loadBalancerIp: loadBalancerIP, ...rest } = options;
        const given = { ...rest, ports: port, clusterIP, externalIP, loadBalancerIP };
        return (await import('../commands/create-objects.ts')).expose(context, words, given);
      }),
    );
  const create = program
    .command('create [object...]')
    .description('make a Job: create job NAME --from=cronjob/NAME; other objects come from manifests, by apply')
    .allowUnknownOption()
    .action(() => {
      const message = "create: only a job can be made by name; 'podwright apply FILE' creates objects";
      throw new PodwrightError('unimplemented', message);
    });
  create
    .command('job <name> [command...]')
    .description('make a Job of a CronJob, or of an image: create job NAME --image=IMAGE -- COMMAND')
    .addOption(namespaceOption())
    .option('--from <cronjob>', 'the CronJob, such as cronjob/nightly')
    .option('--image <image>', 'the image of its container')
    .addOption(dryRunOption())
    .addOption(objectOutputOption())
    .action(
      action(async (context, [name, command, options]: [string, string[], JobFlags]) =>
        (await import('../commands/create-objects.ts')).createJob(context, { name, command }, options),
      ),
    );
  program
    .command('autoscale <workload...>')
    .description('make a HorizontalPodAutoscaler: autoscale deploy/web --max=5 --cpu=80%')
    .addOption(namespaceOption())
    .option('--min <n>', 'minimum number of pods (default: 1)', count)
    .requiredOption('--max <n>', 'maximum number of pods', count)
    .option('--cpu <target>', 'share of the requests, such as 80%, or an amount for each pod, such as 500m')
    .option('--memory <target>', 'target for memory, in the same forms')
    .option('--name <name>', 'its name (default: that of the object)')
    .addOption(dryRunOption())
    .addOption(objectOutputOption())
    .action(
      action(async (context, [words, options]: [string[], AutoscaleFlags]) =>
        (await import('../commands/create-objects.ts')).autoscale(context, words, options),
      ),
    );
}

type CreateFlags = import('../commands/create-objects.ts').CreateOptions;
type JobFlags = CreateFlags & { from?: string; image?: string };
type AutoscaleFlags = CreateFlags & import('@podwright/kube-verbs').AutoscalerOptions;
type ExposeFlags = CreateFlags &
  Omit<import('@podwright/kube-verbs').ExposeOptions, 'ports' | 'clusterIP' | 'externalIP' | 'loadBalancerIP'> & {
    port?: number[];
    clusterIp?: string;
    externalIp?: string;
    loadBalancerIp?: string;
  };

/** Parses labels such as `app=web,tier=front`. */
function labels(value: string): Record<string, string> | undefined {
  if (value.trim() === '') return undefined;
  const pairs = value.split(',').map((pair) => /^([^=]+)=(.*)$/.exec(pair)?.slice(1) as [string, string] | undefined);
  if (pairs.some((pair) => pair === undefined))
    throw new InvalidArgumentError('labels such as app=web,tier=front are needed');
  return Object.fromEntries(pairs as [string, string][]);
}

const ports = (value: string): number[] => value.split(',').map(count);

const targetPort = (value: string): string | number => (/^\d+$/.test(value) ? count(value) : value);
