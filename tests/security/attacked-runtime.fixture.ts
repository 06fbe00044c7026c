import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ContainerConfigSchema, MessageInitShape, PodSandboxConfigSchema } from '@podwright/cri';
import { mediaTypes } from '../../packages/images/src/spec/media-types.ts';
import { type FixtureEntry, tarArchive } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { contentOf } from '../conformance/cri-log.fixture.ts';
import { makeBusyboxImage } from '../fixtures/busybox-image.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { LayoutDirectory } from '../images/layout-directory.ts';
import { packLayer } from '../images/made-image.ts';

/** The fields of a message, without its type name. */
type Fields<T> = Omit<Exclude<T, { readonly $typeName: string }>, '$typeName'>;
type PodInit = Fields<MessageInitShape<typeof PodSandboxConfigSchema>>;
type ContainerInit = Fields<MessageInitShape<typeof ContainerConfigSchema>>;

/** Common OCI runtimes, each with a handler of that name. */
export const OCI_RUNTIMES = ['crun', 'runc'] as const;

/** A container that takes part in an attack: a shell script, and additional configuration. */
type AttackingContainer = { script: string } & Omit<ContainerInit, 'metadata'>;

type Outcome = { exitCode: number; out: string; err: string };

type Pod = { podSandboxId: string; config: PodInit & { logDirectory: string } };

/** A runtime that runs an attacker's pods, images and containers. */
export class AttackedRuntime {
  readonly runtime = new RuntimeUnderTest();
  readonly #images: string[] = [];
  #containers = 0;

  async start(): Promise<this> {
    await this.runtime.start();
    return this;
  }

  /** Removes all pods and images; fails if anything is left on the host. */
  async end(): Promise<void> {
    const { items } = await this.runtime.cri.runtime.listPodSandbox({});
    for (const { id } of items) await this.remove(id);
    for (const image of this.#images) await this.runtime.cri.image.removeImage({ image: { image } });
    assert.deepEqual(await this.runtime.end(), [], 'the runtime leaves nothing on the host');
  }

  /** Loads a busybox image with an additional layer and different values in its configuration's `config`. */
  async image(tag: string, entries: FixtureEntry[], config: Record<string, unknown> = {}): Promise<string> {
    const path = join(this.runtime.place.directory, 'image', tag);
    const name = `localhost/attack/${tag}:1`;
    const { id, manifestDigest } = await makeBusyboxImage(path, { name, config });
    const layout = new LayoutDirectory(path);
    const blob = (digest: string) => JSON.parse(readFileSync(join(path, 'blobs', digest.replace(':', '/')), 'utf8'));
    const layer = packLayer(tarArchive(entries), 'gzip');
    const [imageConfig, manifest] = [blob(id), blob(manifestDigest)];
    imageConfig.rootfs.diff_ids.push(layer.diffId);
    manifest.layers.push({ mediaType: layer.mediaType, ...layout.addBlob(layer.data) });
    Object.assign(manifest.config, layout.addBlob(Buffer.from(JSON.stringify(imageConfig))));
    const described = layout.addManifest('1', manifest, mediaTypes.ociManifest);
    layout.writeIndex([{ ...described, annotations: { 'io.containerd.image.name': name } }]);
    for await (const _ of this.runtime.cri.transfers.load({ path }));
    this.#images.push(name);
    rmSync(path, { recursive: true });
    return name;
  }

  /** Runs a sandbox. `handler` is the name of an OCI runtime; '' selects the default. */
  async pod(name: string, { handler = '', ...more }: Partial<PodInit> & { handler?: string } = {}): Promise<Pod> {
    const config = { ...podOf(this.runtime.place, name), ...more };
    const { podSandboxId } = await this.runtime.cri.runtime.runPodSandbox({ config, runtimeHandler: handler });
    return { podSandboxId, config };
  }

  async remove(podSandboxId: string): Promise<void> {
    await this.runtime.cri.runtime.removePodSandbox({ podSandboxId });
  }

  /** Creates a container in the pod; returns its ID and the path of its log. */
  async create(pod: Pod, { script, ...more }: AttackingContainer): Promise<{ containerId: string; log: string }> {
    const name = `attack-${this.#containers++}`;
    const config = { ...containerOf(this.runtime.image, name, script), ...more };
    const { podSandboxId, config: sandboxConfig } = pod;
    const { containerId } = await this.runtime.cri.runtime.createContainer({ podSandboxId, config, sandboxConfig });
    return { containerId, log: join(pod.config.logDirectory, `${name}.log`) };
  }

  /** Starts a container that keeps running; returns its ID. */
  async begin(pod: Pod, container: AttackingContainer): Promise<string> {
    const { containerId } = await this.create(pod, container);
    await this.runtime.cri.runtime.startContainer({ containerId });
    return containerId;
  }

  /** Runs a container to completion; returns its exit code and output. */
  async run(pod: Pod, container: AttackingContainer): Promise<Outcome> {
    const { containerId, log } = await this.create(pod, container);
    await this.runtime.cri.runtime.startContainer({ containerId });
    await this.runtime.untilExited(containerId);
    const { status } = await this.runtime.cri.runtime.containerStatus({ containerId });
    const [out, err] = [await contentOf(log, 'stdout'), await contentOf(log, 'stderr')];
    return { exitCode: status!.exitCode, out: out.toString(), err: err.toString() };
  }

  /** Returns the host PID of a container's init process. */
  async pidOf(containerId: string): Promise<number> {
    const { info } = await this.runtime.cri.runtime.containerStatus({ containerId, verbose: true });
    return (JSON.parse(info.info!) as { pid: number }).pid;
  }
}
