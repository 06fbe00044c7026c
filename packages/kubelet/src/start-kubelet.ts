/** The kubelet's composition root; its components are wired in `assembly/kubelet-graph.ts`. */
import { describeUndoFailures, type StartedGraph, startGraph } from '@podwright/base';
import { withoutLinks } from '@podwright/host';
import type { RuntimeWait } from './assembly/connect-runtime.ts';
import { type GivenParts, type KubeletGraph, kubeletGraph } from './assembly/kubelet-graph.ts';
import { nodeProblems } from './assembly/node-shutdown.ts';
import { Kubelet } from './kubelet.ts';
import { requireOfHost } from './node/host-requirements.ts';
import { applyOomScore } from './node/oom-score.ts';
import type { KubeletOptions } from './options.ts';
import { ContainerUsage } from './usage/container-usage.ts';

export type { RuntimeWait } from './assembly/connect-runtime.ts';
export type { GivenParts } from './assembly/kubelet-graph.ts';

/**
 * Runs the pods from the manifest directory and URL on a container runtime until the kubelet is closed. Containers then keep running, and
 * the next kubelet takes them over. Rejects with `already_exists` if another kubelet uses the root directory, with `unimplemented` if no
 * CRI runtime responds at the endpoint, and with `unavailable` if the container runtime is down and `runtimeWait` is not set. If startup
 * fails, everything that was started has been stopped by the time the promise rejects.
 */
export async function startKubelet(
  configured: KubeletOptions,
  given: GivenParts = {},
  runtimeWait?: RuntimeWait,
): Promise<Kubelet> {
  // resolve symlinks, because mounts under the root directory are looked up in mountinfo by path
  const options = { ...configured, rootDir: withoutLinks(configured.rootDir) };
  const { requirements, oomScoreAdj, logger } = options;
  await requireOfHost(requirements);
  if (oomScoreAdj !== undefined) await applyOomScore(oomScoreAdj, logger);
  const started = await startGraph(kubeletGraph({ options, given, runtimeWait }), (failures) =>
    logger.error({ error: describeUndoFailures(failures) }, 'the kubelet could not be stopped completely'),
  );
  return kubeletOf(options, started);
}

function kubeletOf(options: KubeletOptions, { parts: started, close }: StartedGraph<KubeletGraph>): Kubelet {
  const { cri, events, cgroups, known, cluster, node, summary, runtimeState, pressure, shutdown } = started;
  const { objects, claims } = started.parts;
  return new Kubelet({
    ...{ ...started.sync, ...started.runningPods, cri, events, cgroups, objects, claims, node },
    ...{ summary, runtimeState, pressure, close },
    version: node.runtime,
    usage: new ContainerUsage(cri),
    problems: () => nodeProblems(runtimeState, shutdown),
    options: { ...options, systemReserved: known.systemReserved },
    servingNames: () => cluster?.servingNames() ?? [],
  });
}
