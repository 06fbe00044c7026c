import { join } from 'node:path';
import type { JsonValue } from '@bufbuild/protobuf';
import { errorCode, errorMessage } from '@podwright/base';
import type { Observed } from './differences.ts';
import { flatten, normalized } from './flatten.ts';
import { Probe, type ProbeOptions, type Steps } from './probe.ts';
import type { Side } from './sides.ts';

/** The fields of a CRI message. */
type Fields = { [name: string]: unknown };

/** A run of a scenario on one runtime: makes CRI calls, and records their outcomes in sequence with the messages that probes receive. */
export class ScenarioRun {
  readonly side: Side;
  readonly #steps: Steps = [];
  readonly #probes: Probe[] = [];
  /** Pod configs by ID. CreateContainer repeats them, as a kubelet does. */
  readonly #configs = new Map<string, Fields>();

  constructor(side: Side) {
    this.side = side;
  }

  get observed(): Observed {
    const { directory, cgroupParent } = this.side;
    return {
      steps: this.#steps,
      names: new Map([
        [directory, '<directory>'],
        [cgroupParent, '<cgroup>'],
      ]),
    };
  }

  /** Connects a plugin that records its messages as part of this run. */
  async probe(options: ProbeOptions = {}): Promise<Probe> {
    const probe = await Probe.connect(this.side.nriSocket, this.#steps, options);
    this.#probes.push(probe);
    return probe;
  }

  /** Records something found by the scenario, such as a limit. */
  note(name: string, message: JsonValue): void {
    this.#steps.push({ name, message });
  }

  /** Makes a CRI call and records its success or its error. Returns `undefined` on failure. */
  async call<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work();
      this.#steps.push({ name: `call ${name}: ok`, message: {} });
      return result;
    } catch (error) {
      this.#steps.push({ name: `call ${name}: ${errorCode(error)}`, message: { error: errorMessage(error) } });
      return undefined;
    }
  }

  /** Runs a pod. Returns its ID, or '' on failure. */
  async runPod(name: string, fields: Fields = {}, runtimeHandler = ''): Promise<string> {
    const { cri, directory, cgroupParent } = this.side;
    const { linux, ...others } = fields;
    const config = {
      metadata: { name, uid: `uid-${name}`, namespace: 'default', attempt: 0 },
      hostname: name,
      logDirectory: join(directory, 'logs', name),
      ...others,
      linux: { cgroupParent: `${cgroupParent}/${name}`, ...(linux as object) },
    };
    const answer = await this.call(`RunPodSandbox ${name}`, () =>
      cri.runtime.runPodSandbox({ config: config as never, runtimeHandler }),
    );
    const id = answer?.podSandboxId ?? '';
    if (id === '') return id;
    this.#configs.set(id, config);
    return id;
  }

  /** Creates a container, which sleeps by default. Returns its ID, or '' on failure. */
  async create(podSandboxId: string, name: string, fields: Fields = {}): Promise<string> {
    const { cri, image } = this.side;
    const config = {
      metadata: { name, attempt: 0 },
      image: { image },
      command: ['sh', '-c', 'exec sleep 1000'],
      logPath: `${name}.log`,
      ...fields,
    };
    const answer = await this.call(`CreateContainer ${name}`, () =>
      cri.runtime.createContainer({
        podSandboxId,
        config: config as never,
        sandboxConfig: this.#configs.get(podSandboxId) as never,
      }),
    );
    return answer?.containerId ?? '';
  }

  async start(containerId: string): Promise<void> {
    await this.call('StartContainer', () => this.side.cri.runtime.startContainer({ containerId }));
  }

  async stop(containerId: string): Promise<void> {
    await this.call('StopContainer', () => this.side.cri.runtime.stopContainer({ containerId, timeout: 0n }));
  }

  async remove(containerId: string): Promise<void> {
    await this.call('RemoveContainer', () => this.side.cri.runtime.removeContainer({ containerId }));
  }

  async stopPod(podSandboxId: string): Promise<void> {
    await this.call('StopPodSandbox', () => this.side.cri.runtime.stopPodSandbox({ podSandboxId }));
  }

  async removePod(podSandboxId: string): Promise<void> {
    await this.call('RemovePodSandbox', () => this.side.cri.runtime.removePodSandbox({ podSandboxId }));
  }

  /** Returns a container's OCI spec as lines of the form `path=value`. */
  async specOf(containerId: string): Promise<string[]> {
    const { info } = await this.side.cri.runtime.containerStatus({ containerId, verbose: true });
    const { runtimeSpec } = JSON.parse(info.info ?? '{}') as { runtimeSpec: JsonValue };
    return normalized(flatten(runtimeSpec), this.observed.names);
  }

  /** Records how the OCI spec of the container `adjusted` differs from that of `plain`. */
  async noteEffects(name: string, plain: string, adjusted: string): Promise<void> {
    const [before, after] = [await this.specOf(plain), await this.specOf(adjusted)];
    this.note(`effects of ${name}`, {
      removed: before.filter((line) => !after.includes(line)),
      added: after.filter((line) => !before.includes(line)),
    });
  }

  close(): void {
    for (const probe of this.#probes) probe.close();
  }
}
