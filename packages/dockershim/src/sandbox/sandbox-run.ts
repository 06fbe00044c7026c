import { describeUndoFailures, PodwrightError, Undo, wrapError } from '@podwright/base';
import type { PodSandboxConfig, RuntimeHandlers } from '@podwright/cri';
import type { ContainerSpec } from '../engine/engine-types.ts';
import { createSandbox } from './create-sandbox.ts';
import { asksAbilities, refuseOwnUsers, requireAbilities, runtimeOf } from './engine-abilities.ts';
import { networkNames, writeNetworkFiles } from './network-files.ts';
import { allowedOomScoreAdj } from './oom-score.ts';
import { rewriteResolvConf } from './resolv-conf.ts';
import { rollBack } from './roll-back.ts';
import { checkpointOf, networkFacts } from './sandbox-checkpoint.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { netnsPathOf } from './sandbox-netns.ts';
import { requireMetadata, SANDBOX_OOM_SCORE_ADJ, sandboxName, sandboxSpec } from './sandbox-spec.ts';
import { sandboxSecurityOptions } from './security-options.ts';

type Wanted = { config: PodSandboxConfig; name: string; spec: ContainerSpec; createdAtMs: number };

/**
 * RunPodSandbox: creates a container that holds the pod's namespaces, in five steps: create it (pulling the image if needed), write the
 * checkpoint, start it, write `resolv.conf`, and set up the network. If a step fails, the preceding ones are rolled back.
 */
export function sandboxRun(dependencies: SandboxDependencies): RuntimeHandlers['runPodSandbox'] {
  return async ({ config, runtimeHandler }, { signal }) => {
    const wanted = await wantedSandbox(dependencies, { config, runtimeHandler }, signal);
    const podSandboxId = await dependencies.names.run(wanted.name, () => run(dependencies, wanted, signal), signal);
    return { podSandboxId };
  };
}

async function wantedSandbox(
  { services }: SandboxDependencies,
  { config, runtimeHandler }: { config: PodSandboxConfig | undefined; runtimeHandler: string },
  signal: AbortSignal,
): Promise<Wanted> {
  const name = sandboxName(requireMetadata(config));
  const wanted = config!;
  refuseOwnUsers(wanted);
  if (asksAbilities(wanted, runtimeHandler))
    requireAbilities(await services.engine.info(signal), wanted, runtimeHandler);
  const createdAtMs = Date.now();
  const spec = sandboxSpec(wanted, {
    image: services.options.sandboxImage,
    details: { createdAtNs: BigInt(createdAtMs) * 1_000_000n, runtimeHandler },
    runtime: runtimeOf(runtimeHandler),
    networkMode: services.network.dockerNetworkMode,
    oomScoreAdj: allowedOomScoreAdj(SANDBOX_OOM_SCORE_ADJ),
    securityOptions: await sandboxSecurityOptions(wanted.linux?.securityContext),
  });
  return { config: wanted, name, spec, createdAtMs };
}

async function run(dependencies: SandboxDependencies, wanted: Wanted, signal: AbortSignal): Promise<string> {
  const { failpoint } = dependencies.services;
  const undo = new Undo();
  try {
    const id = await createSandbox(dependencies, wanted, signal);
    undo.add(`roll back sandbox ${id}`, () => rollBack(dependencies, id));
    dependencies.unfinished.add(id);
    await failpoint('sandbox-run/created');
    await finish(dependencies, { ...wanted, id }, signal);
    dependencies.unfinished.delete(id);
    return id;
  } catch (error) {
    const failures = await undo.run();
    const left = failures.length === 0 ? '' : `; and then ${describeUndoFailures(failures)}`;
    throw wrapError(`run sandbox ${wanted.name}${left}`, error);
  }
}

async function finish(
  dependencies: SandboxDependencies,
  { config, id, spec, createdAtMs }: Wanted & { id: string },
  signal: AbortSignal,
): Promise<void> {
  const { engine, network, failpoint } = dependencies.services;
  const checkpoint = checkpointOf(config, { createdAtMs, network: network.name });
  await dependencies.checkpoints.write(id, checkpoint);
  await failpoint('sandbox-run/checkpointed');
  if (spec.NetworkDisabled) await writeNetworkFiles(dependencies.checkpoints.filesOf(id), networkNames(id, config));
  await engine.containers.start(id, signal);
  await failpoint('sandbox-run/started');
  const container = await engine.containers.inspect(id, signal);
  if (config.dnsConfig !== undefined && !spec.NetworkDisabled)
    await rewriteResolvConf(container.ResolvConfPath, config.dnsConfig);
  await failpoint('sandbox-run/resolv-conf-written');
  if (checkpoint.hostNetwork) return;
  const netnsPath = netnsPathOf(container);
  if (netnsPath === undefined)
    throw new PodwrightError(
      'internal',
      `its container ${id} exited immediately: exit code ${container.State.ExitCode}`,
    );
  const { name, namespace, uid } = checkpoint;
  const pod = { name, namespace, uid, sandboxId: id };
  try {
    await network.setUpPod({ pod, netnsPath, annotations: config.annotations, ...networkFacts(checkpoint) }, signal);
  } finally {
    dependencies.detached.delete(id); // a stop during the setup marks the network as removed although this setup has created it
  }
  await failpoint('sandbox-run/network-up');
}
