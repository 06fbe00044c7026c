import type { Container, ContainerState, Pod, PodDefaults } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { terminalYaml } from '../output/terminal-yaml.ts';
import { podStatusReason } from '../run/pod-rows.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { eventTable } from './events.ts';

export type DescribeOptions = { namespace: string; output: OutputFormat };

/** `podwright describe POD`. */
export async function describe({ config }: CommandContext, name: string, options: DescribeOptions): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  const [pod, events, { podDefaults }] = await Promise.all([
    client.pod(options.namespace, name),
    client.events(),
    client.node(),
  ]);
  const mine = events.filter(({ involvedObject }) => involvedObject.uid === pod.metadata.uid);
  await printAs(
    options.output,
    { pod, events: mine },
    () => `${terminalYaml(summary(pod, podDefaults)).trimEnd()}\nEvents:\n${eventTable(mine)}`,
  );
}

/** What is asked first, under kubectl's names. */
function summary(pod: Pod, defaults: PodDefaults | undefined): object {
  const { metadata, spec, status } = pod;
  const describeIt = (container: Container) => describeContainer(pod, container, defaults);
  return {
    Name: metadata.name,
    Namespace: metadata.namespace,
    UID: metadata.uid,
    ...(metadata.labels && { Labels: metadata.labels }),
    Status: podStatusReason(pod),
    ...(status?.message && { Message: status.message }),
    Started: status?.startTime ?? '-',
    IPs: status?.podIPs?.map(({ ip }) => ip).join(', ') || '-',
    'QoS Class': status?.qosClass ?? '-',
    ...(defaults?.pidsPerPod !== undefined && { 'Processes Limit': defaults.pidsPerPod }),
    ...(spec.initContainers && {
      'Init Containers': Object.fromEntries(spec.initContainers.map(describeIt)),
    }),
    Containers: Object.fromEntries(spec.containers.map(describeIt)),
    Conditions: Object.fromEntries(
      (status?.conditions ?? []).map(({ type, status, reason }) => [type, reason ? `${status} (${reason})` : status]),
    ),
    ...(spec.volumes && { Volumes: Object.fromEntries(spec.volumes.map(({ name, ...source }) => [name, source])) }),
  };
}

function describeContainer(pod: Pod, container: Container, defaults: PodDefaults | undefined): [string, object] {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const status = statuses.find(({ name }) => name === container.name);
  return [
    container.name,
    {
      Image: container.image,
      ...(status?.containerID && { 'Container ID': status.containerID }),
      ...(container.command && { Command: container.command.join(' ') }),
      ...(container.ports && {
        Ports: container.ports
          .map(
            ({ containerPort, hostPort, protocol }) =>
              `${hostPort ? `host ${hostPort} to ` : ''}${containerPort}/${protocol}`,
          )
          .join(', '),
      }),
      Seccomp: describeSeccomp(pod, container, defaults),
      State: describeState(status?.state),
      ...(status?.lastState &&
        Object.keys(status.lastState).length > 0 && { 'Last State': describeState(status.lastState) }),
      Ready: status?.ready ?? false,
      'Restart Count': status?.restartCount ?? 0,
    },
  ];
}

/** The profile that the container's system calls are filtered by, and where it is from. */
function describeSeccomp({ spec }: Pod, { securityContext }: Container, defaults: PodDefaults | undefined): string {
  if (securityContext?.privileged) return 'Unconfined (privileged)';
  const profile = securityContext?.seccompProfile ?? spec.securityContext?.seccompProfile;
  if (profile === undefined) return `${defaults?.seccomp ?? 'Unconfined'} (the node's default)`;
  return profile.localhostProfile === undefined ? profile.type : `${profile.type} ${profile.localhostProfile}`;
}

function describeState(state: ContainerState | undefined): string {
  if (state?.running) return `Running since ${state.running.startedAt}`;
  const { terminated, waiting } = state ?? {};
  if (terminated)
    return `Terminated: ${terminated.reason ?? 'no reason'}, exit code ${terminated.exitCode}${terminated.message ? `: ${terminated.message}` : ''}`;
  return `Waiting${waiting?.reason ? `: ${waiting.reason}` : ''}${waiting?.message ? `: ${waiting.message}` : ''}`;
}
