import { join } from 'node:path';
import { silentLogger } from '@podwright/base';
import { type CriClient, connectCri } from '@podwright/cri';
import { discoverCgroups, removeCgroup } from '@podwright/host';
import { makeTestPlace, RuntimeUnderTest } from '../../fixtures/runtime-under-test.ts';
import { startContainerd } from '../../kubelet/containerd.fixture.ts';
import { nriOptions } from '../nri-options.fixture.ts';

/** A running container runtime to compare. */
export type Side = {
  cri: CriClient;
  nriSocket: string;
  image: string;
  /** A directory for container logs and files. */
  directory: string;
  cgroupParent: string;
  stop(): Promise<void>;
};

/** Directories of the plugins started by the runtime, and of their configurations; '' for none. */
export type SideOptions = { pluginPath: string; pluginConfigPath: string };

/** Starts the containerd at the path `program`, with NRI enabled. */
export async function startTheirs(program: string, { pluginPath, pluginConfigPath }: SideOptions): Promise<Side> {
  const configuration = (scratch: string) => `[plugins."io.containerd.nri.v1.nri"]
  disable = false
  socket_path = "${join(scratch, 'nri.sock')}"
  plugin_path = "${pluginPath === '' ? join(scratch, 'no-plugins') : pluginPath}"
  plugin_config_path = "${pluginConfigPath === '' ? join(scratch, 'no-plugins') : pluginConfigPath}"
`;
  const containerd = await startContainerd('n', { program, configuration });
  const { scratch, image, endpoint } = containerd;
  const cri = await connectCri({ runtimeEndpoint: endpoint, logger: silentLogger });
  const cgroupParent = `/pwn${process.pid}c`;
  const stop = async () => {
    cri.close();
    await containerd.stop();
    await removeCgroup(await discoverCgroups(), cgroupParent);
  };
  return { cri, nriSocket: join(scratch, 'nri.sock'), image, directory: scratch, cgroupParent, stop };
}

/** Starts Podwright's runtime with runc, the OCI runtime used by containerd. */
export async function startOurs({ pluginPath, pluginConfigPath }: SideOptions): Promise<Side> {
  const place = makeTestPlace();
  const nri = { ...nriOptions(place), pluginPath, pluginConfigPath };
  const runtime = await new RuntimeUnderTest(place).start({ nri, ociRuntime: 'runc' });
  const { cri, image } = runtime;
  const cgroupParent = place.options.cgroupParent;
  const stop = async () => {
    for (const line of await runtime.end()) console.error(`left on the host: ${line}`);
  };
  return { cri, nriSocket: nri.socketPath, image, directory: place.directory, cgroupParent, stop };
}
