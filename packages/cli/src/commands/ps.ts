import type { Pod } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import { printManifestErrors } from '../manifests/node-manifests.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { terminalWidth } from '../output/terminal.ts';
import { formatAge } from '../output/units.ts';
import { podStatusReason, readyCount, restartCount } from '../run/pod-rows.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type PsOptions = { output: OutputFormat };

/** `podwright ps`. */
export async function ps({ config }: CommandContext, options: PsOptions): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  const [items, node] = await Promise.all([client.pods(), client.node()]);
  await printAs(options.output, { apiVersion: 'v1', kind: 'PodList', items }, () =>
    podTable(items, options.output === 'wide'),
  );
  printManifestErrors(node);
}

function podTable(pods: Pod[], wide: boolean): string {
  if (pods.length === 0) return "no pods; 'podwright run FILE' or 'podwright apply FILE' makes some";
  const now = Date.now();
  const rows = pods.map((pod) => [
    pod.metadata.namespace,
    pod.metadata.name,
    readyCount(pod),
    podStatusReason(pod),
    String(restartCount(pod)),
    pod.status?.podIP ?? '-',
    formatAge(pod.status?.startTime, now),
    ...(wide
      ? [pod.status?.qosClass ?? '-', pod.metadata.uid, pod.spec.containers.map(({ image }) => image).join(',')]
      : []),
  ]);
  const header = [
    'NAMESPACE',
    'NAME',
    'READY',
    'STATUS',
    'RESTARTS',
    'IP',
    'AGE',
    ...(wide ? ['QOS', 'UID', 'IMAGES'] : []),
  ];
  return renderTable(header, rows, wide ? undefined : terminalWidth());
}
